// The JSON of conditions. Every string comes from outside and is only shown as text.

import type { Finding } from "../ui/findings/model.ts";

export interface Condition {
  account: string;
  rule: string;
  kind: "account" | "pool" | "job" | "schedule" | "node";
  id: string;
  /** The pool of a node, null otherwise. */
  pool: string | null;
  since: string;
  /** Why it can't be judged at present, null where it can. */
  unknown: string | null;
  finding: Finding;
  /** The condition that it follows from, null without one. */
  inhibitedBy: { rule: string; kind: string; id: string } | null;
}

export interface Conditions {
  /** The worst first. */
  value: Condition[];
  leftOut: number;
  unevaluated: { account: string; reason: string }[];
}
