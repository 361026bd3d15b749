// The costs of a schedule's runs, in the API's JSON.

import type { CostSum } from "../cost/amounts/model.ts";
import type { NamedCost } from "../cost/lines/totals.ts";
import type { Run } from "./model.ts";

/** The answer of `GET …/jobschedules/{schedule}/cost`; `cost` is null where no day of a run has stored usage. */
export interface ScheduleCosts {
  currency: string;
  value: { job: string; creationTime: string; cost: CostSum | null }[];
}

/** What a run cost; undefined where that isn't known. */
export function costOfRun(costs: ScheduleCosts | null, { id, creationTime }: Run): NamedCost | undefined {
  const found = costs?.value.find((each) => each.job === id && each.creationTime === creationTime)?.cost;
  return costs && found ? { currency: costs.currency, cost: found } : undefined;
}
