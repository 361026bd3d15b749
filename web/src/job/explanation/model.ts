// The JSON of an explanation. Every string comes from outside and is only shown as text.

import type { Finding } from "../../ui/findings/model.ts";

/** Why a job doesn't run, or doesn't run faster; the first finding is the cause. */
export interface Explanation {
  asOf: string | null;
  running: boolean;
  summary: string;
  findings: Finding[];
  unknown: string[];
}
