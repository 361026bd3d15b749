// The JSON of an explanation. Every string comes from outside and is only shown as text.

export type Severity = "blocking" | "limiting" | "info";
export type Evidence = string | number | boolean | string[] | null;

/** A cause or a note, with its evidence and advice. */
export interface Finding {
  code: string;
  severity: Severity;
  title: string;
  detail: string;
  /** By name; durations in seconds, times in ISO 8601. */
  evidence: Record<string, Evidence>;
  advice: string;
  since: string | null;
}

/** Why a job doesn't run, or doesn't run faster; the first finding is the cause. */
export interface Explanation {
  asOf: string | null;
  running: boolean;
  summary: string;
  findings: Finding[];
  unknown: string[];
}
