// The JSON of a job's what-if, and its texts. Every string comes from outside and is only shown as text.

import { amountText, hoursText } from "../../cost/amounts/texts.ts";
import { formatSeconds } from "../../format/durations.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { type Spread, spreadText } from "../../format/spreads.ts";

export interface Scenario {
  nodes: number;
  slotsPerNode: number;
  vmSize: string;
  /** Null: nodes of both kinds. */
  spot: boolean | null;
  /** Null where no replay ends. */
  seconds: Spread | null;
  nodeSeconds: Spread | null;
  /** Null without a price, as `noPrice` says. */
  cost: Spread | null;
  noPrice: string | null;
  /** What of the cost no run held to its end. */
  waste: number | null;
}

export interface WhatIf {
  tasks: number;
  replayedTasks: number;
  /** Runs that the node agent recorded; how others use CPUs follows from enough of them. */
  measuredRuns: number;
  /** How long the job really took; null without ended tasks. */
  seconds: number | null;
  currency: string;
  asItWas: Scenario | null;
  asked: Scenario | null;
  assumptions: string[];
  reason: string | null;
}

/** The fields of the form as typed; "" leaves a setting as it was. */
export interface WhatIfDraft {
  slots: string;
  nodes: string;
  vmSize: string;
  spot: string;
}

export const NO_DRAFT: WhatIfDraft = { slots: "", nodes: "", vmSize: "", spot: "" };

/** "?slots=4&spot=true"; "" where nothing differs. */
export function queryOf(draft: WhatIfDraft): string {
  const given = Object.entries(draft).filter(([, value]) => value.trim());
  const query = new URLSearchParams(given.map(([name, value]) => [name, value.trim()]));
  return given.length ? `?${query}` : "";
}

/** "4 dedicated nodes of standard_d4s_v5, 2 slots each". */
export function scenarioText({ nodes, slotsPerNode, vmSize, spot }: Scenario): string {
  const kind = spot === null ? "" : spot ? "spot " : "dedicated ";
  return `${plural(nodes, `${kind}node`)} of ${vmSize}, ${plural(slotsPerNode, "slot")} each`;
}

/** The rows of the table: label, text as it was, and as asked. */
export function rowsOf(asItWas: Scenario, asked: Scenario, currency: string): [string, string, string][] {
  const money = (value: number) => amountText(value, currency);
  const endText = (spread: Spread | null, text: (value: number) => string) => (spread ? spreadText(spread, text) : "no end");
  const costText = ({ cost }: Scenario) => (cost ? spreadText(cost, money) : "no price");
  return [
    ["Duration", endText(asItWas.seconds, formatSeconds), endText(asked.seconds, formatSeconds)],
    ["Time of nodes", endText(asItWas.nodeSeconds, hoursText), endText(asked.nodeSeconds, hoursText)],
    ["Cost", costText(asItWas), costText(asked)],
    ["Wasted of it", amountText(asItWas.waste, currency), amountText(asked.waste, currency)],
  ];
}

/** Why costs are missing, once where both replays have the same reason. */
export function noPriceTexts(asItWas: Scenario | null, asked: Scenario | null): string[] {
  const [was, will] = [asItWas?.noPrice, asked?.noPrice];
  if (was === will) return was ? [was] : [];
  return [...(was ? [`As it was: ${was}`] : []), ...(will ? [`As asked: ${will}`] : [])];
}

/** "240 tasks, replayed one by one, 24 runs measured; the job took 25 min 10 s". */
export function replayedText({ tasks, replayedTasks, measuredRuns, seconds }: WhatIf): string {
  const replayed = replayedTasks < tasks ? `a sample of ${formatCount(replayedTasks)} replayed` : "replayed one by one";
  const measured = measuredRuns ? `${plural(measuredRuns, "run")} measured` : "no run measured";
  return `${plural(tasks, "task")}, ${replayed}, ${measured}; the job took ${formatSeconds(seconds ?? 0)}`;
}
