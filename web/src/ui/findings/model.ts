// The JSON of a finding. Every string comes from outside and is only shown as text.

export type Severity = "blocking" | "limiting" | "info";
export type Evidence = string | number | boolean | string[] | null;

/** A cause or a note, with its evidence and advice. */
export interface Finding {
  /** The name of the rule that found it. */
  code: string;
  severity: Severity;
  title: string;
  detail: string;
  /** By name; durations in seconds, times in ISO 8601. */
  evidence: Record<string, Evidence>;
  advice: string;
  since: string | null;
}
