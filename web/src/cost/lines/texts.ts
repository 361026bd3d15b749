// Sentences about what one job or one pool cost.

import { formatCount } from "../../format/numbers.ts";
import type { CostSum } from "../amounts/model.ts";
import { amountText, hoursText, missingText } from "../amounts/texts.ts";
import type { JobCost, PoolCost } from "./model.ts";
import { type NamedCost, TOTAL_DAYS } from "./totals.ts";

/** "$3.00 wasted; 2 h of nodes without a price". */
export function detailsOf(cost: CostSum, currency: string): string {
  return [...wasteOf(cost, currency), ...doubtsOf(cost, currency)].join("; ");
}

/** The same of a list's total: "30 days with today, in UTC: $3.00 wasted". */
export function totalDetails({ cost, currency }: NamedCost): string {
  return [`${TOTAL_DAYS} days with today, in UTC`, detailsOf(cost, currency)].filter(Boolean).join(": ");
}

/** "Cost so far $12.00: $3.00 wasted, $1.00 as its share of time that no task held.", then a task's and the forecast. */
export function jobCostText(job: JobCost): string {
  const { cost, currency, task, forecast } = job;
  const shared = cost.sharedAmount ?? 0;
  const parts = [
    ...wasteOf(cost, currency),
    ...(shared > 0 ? [`${amountText(shared, currency)} as its share of time that no task held`] : []),
    ...doubtsOf(cost, currency),
  ];
  const [mean, p95] = [task?.mean, task?.p95].map((each) => amountText(each ?? null, currency));
  return [
    `Cost so far ${cost.amount === null ? "isn't known" : amountText(cost.amount, currency)}${parts.length ? `: ${parts.join(", ")}` : ""}.`,
    missingText(job.missingDays),
    task && `A completed task held ${mean} on average, 95% of them at most ${p95}.`,
    forecast && forecastText(job, forecast),
  ]
    .filter(Boolean)
    .join(" ");
}

function forecastText({ currency }: JobCost, { amount, low, high, tasksLeft }: NonNullable<JobCost["forecast"]>): string {
  const [about, from, to] = [amount, low, high].map((each) => amountText(each, currency));
  const left = tasksLeft === 1 ? "the task left" : `the ${formatCount(tasksLeft)} tasks left`;
  return `With ${left}, its tasks will have held about ${about}, ${from} to ${to}.`;
}

/** "Today $12.00 for 20 h of nodes: 5 h idle, 1 h starting.", of the day (UTC) so far. */
export function poolCostText(pool: PoolCost): string {
  const { nodeSeconds, billedSeconds, amount, unpricedSeconds, currency } = pool;
  const billed = billedSeconds.dedicated + billedSeconds.spot;
  const seconds = (...names: string[]) =>
    names.reduce((sum, name) => sum + (nodeSeconds.dedicated[name] ?? 0) + (nodeSeconds.spot[name] ?? 0), 0);
  if (!billed) {
    const unwatched = seconds("unwatched");
    if (unwatched) return `Today (UTC) the cost isn't known: nobody watched its nodes for ${hoursText(unwatched)}.`;
    return "Today (UTC) no node of the pool cost anything.";
  }
  const parts = [
    [seconds("idle"), "idle"],
    [seconds("starting", "startTask"), "starting"],
    [seconds("startTaskFailed", "unusable", "unknown", "offline"), "unable to run tasks"],
    [seconds("unwatched"), "not watched and not counted"],
    [unpricedSeconds ?? 0, "without a price"],
  ] as const;
  const named = parts.filter(([time]) => time > 0).map(([time, name]) => `${hoursText(time)} ${name}`);
  return `Today (UTC) ${amountText(amount, currency)} for ${hoursText(billed)} of nodes${named.length ? `: ${named.join(", ")}` : ""}.`;
}

function wasteOf({ amount, wastedAmount }: CostSum, currency: string): string[] {
  return amount !== null && wastedAmount !== null && wastedAmount > 0 ? [`${amountText(wastedAmount, currency)} wasted`] : [];
}

function doubtsOf({ uncertainAmount, unpricedSeconds }: CostSum, currency: string): string[] {
  return [
    ...(uncertainAmount !== null && uncertainAmount > 0 ? [`up to ${amountText(uncertainAmount, currency)} more, not watched`] : []),
    ...(unpricedSeconds > 0 ? [`${hoursText(unpricedSeconds)} of nodes without a price`] : []),
  ];
}
