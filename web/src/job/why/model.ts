// The JSON of an explanation. Every string comes from outside and is only ever text.

export type Severity = "blocking" | "limiting" | "info";
export type Evidence = string | number | boolean | string[] | null;

/** One cause, or a thing worth knowing: what is so, what shows it, and what to do. */
export interface Finding {
  code: string;
  severity: Severity;
  title: string;
  detail: string;
  /** By name; spans of time in seconds, times in ISO 8601. */
  evidence: Record<string, Evidence>;
  advice: string;
  since: string | null;
}

/** Why a job doesn't run, or no faster; the first finding is the cause. */
export interface Explanation {
  asOf: string | null;
  running: boolean;
  summary: string;
  findings: Finding[];
  unknown: string[];
}
