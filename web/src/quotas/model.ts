// The quotas of an account, in the API's JSON.

import type { Finding } from "../ui/findings/model.ts";

/** A quota: `family` names the VM family of `familyCores`; `limit` is null for the reason `detail`, a sentence. */
export interface Quota {
  quota: string;
  family: string | null;
  limit: number | null;
  used: number;
  /** The used part of the limit. */
  share: number | null;
  /** When the limit is reached at the rate of the last days; null where that isn't known. */
  reachedAt: string | null;
  /** Why the limit isn't known, by the API's names. */
  noLimit: string | null;
  detail: string | null;
}

/** The answer of `GET accounts/{account}/quotas`: limits as of `asOf`, and the use that is stored now. */
export interface AccountQuotas {
  account: string;
  asOf: string | null;
  /** Why the last read failed; limits of earlier reads go on. */
  problem: string | null;
  /** Nodes whose cores aren't known, and aren't counted. */
  unknownNodes: number;
  value: Quota[];
  findings: Finding[];
}
