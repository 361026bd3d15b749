// The JSON of a pool's what-if, and its texts. Every string comes from outside and is only shown as text.

import { amountText, hoursText } from "../../cost/amounts/texts.ts";
import { formatSeconds } from "../../format/durations.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { type Spread, spreadText } from "../../format/spreads.ts";

export interface Targets {
  dedicated: number;
  spot: number;
}

/** The pool's own formula on recorded samples, compared with the recorded targets. */
export interface Agreement {
  evaluations: number;
  equal: number;
  meanDifference: number;
  failed: number;
  error: string | null;
}

export interface Scaling {
  nodeSeconds: Spread;
  /** Null without a price, as `noPrice` says. */
  cost: Spread | null;
  meanWaitSeconds: Spread;
  longestWaitSeconds: number;
  tasks: number;
  unfinishedTasks: number;
  lostRuns: number;
  evaluations: number;
  failed: number;
  error: string | null;
  targets: Targets[];
}

export interface FormulaWhatIf {
  currency: string;
  noPrice: string | null;
  seen: { nodeSeconds: number; cost: number | null; meanWaitSeconds: number | null };
  ownFormula: Agreement | null;
  asItWas: Scaling | null;
  asked: Scaling | null;
  assumptions: string[];
  reason: string | null;
}

const MAX_FORMULA = 4000;

/** "?formula=…&interval=PT10M", without comments and indentation; "" where nothing is given. */
export function queryOf(formula: string, minutes: string): string {
  const query = new URLSearchParams();
  const text = withoutComments(formula);
  if (text) query.set("formula", text.slice(0, MAX_FORMULA + 1)); // one more than is allowed is refused, not replayed
  if (minutes.trim()) query.set("interval", `PT${Number(minutes)}M`);
  return query.size ? `?${query}` : "";
}

/** Keeps lines, so that the places in messages are near those in the text. */
function withoutComments(formula: string): string {
  return formula
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim();
}

/** "The pool's own formula gives 12 of 12 recorded targets". */
export function agreementText({ evaluations, equal, meanDifference }: Agreement): string {
  if (!evaluations) return "No target of the pool's own formula was recorded in this time";
  const missed = equal < evaluations ? `; the others differ, by ${meanDifference.toFixed(1)} nodes in the mean of all` : "";
  return `The pool's own formula gives ${formatCount(equal)} of ${plural(evaluations, "recorded target")}${missed}`;
}

/** The first error of each replay, and of the own formula on recorded samples if it is another. */
export function errorTexts({ asItWas, asked, ownFormula }: FormulaWhatIf): string[] {
  const [own, was, will] = [ownFormula?.error, asItWas?.error, asked?.error];
  const found: [string, string | null | undefined][] = [
    ["On recorded samples", own === was ? null : own],
    ["As it was", was],
    ["As asked", will],
  ];
  return found.flatMap(([label, error]) => (error ? [`${label}: ${error}`] : []));
}

/** The rows of the table: label, text of what was seen, as it was, and as asked. */
export function rowsOf(found: FormulaWhatIf, asItWas: Scaling, asked: Scaling): [string, string, string, string][] {
  const { seen, currency } = found;
  const money = (value: number) => amountText(value, currency);
  const both = (text: (one: Scaling) => string): [string, string] => [text(asItWas), text(asked)];
  return [
    ["Time of nodes", hoursText(seen.nodeSeconds), ...both((one) => spreadText(one.nodeSeconds, hoursText))],
    ["Cost", costText(seen.cost, money), ...both((one) => (one.cost ? spreadText(one.cost, money) : "no price"))],
    ["Mean wait of tasks", waitText(seen.meanWaitSeconds), ...both((one) => spreadText(one.meanWaitSeconds, formatSeconds))],
    ["Longest wait", "", ...both((one) => formatSeconds(one.longestWaitSeconds))],
    ["Highest target", "", ...both(highestText)],
    ["Evaluations", "", ...both(evaluationsText)],
    ["Tasks", "", ...both(tasksText)],
  ];
}

function costText(cost: number | null, money: (value: number) => string): string {
  return cost === null ? "no price" : money(cost);
}

function waitText(seconds: number | null): string {
  return seconds === null ? "no tasks" : formatSeconds(seconds);
}

function highestText({ targets }: Scaling): string {
  return plural(Math.max(...targets.map(({ dedicated, spot }) => dedicated + spot)), "node");
}

function evaluationsText({ evaluations, failed }: Scaling): string {
  if (!evaluations) return "recorded targets";
  return failed ? `${formatCount(evaluations)}, ${formatCount(failed)} failed` : formatCount(evaluations);
}

function tasksText({ tasks, unfinishedTasks, lostRuns }: Scaling): string {
  const unfinished = unfinishedTasks ? `, ${formatCount(unfinishedTasks)} unfinished` : "";
  const lost = lostRuns ? `, ${plural(lostRuns, "lost run")}` : "";
  return `${formatCount(tasks)}${unfinished}${lost}`;
}
