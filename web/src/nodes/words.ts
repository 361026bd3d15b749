// Nodes of a pool or an account in words.

import type { Account, NodeCounts } from "../api/model.ts";
import { count, plural, rate } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { statesOf, stateWords, sumOf } from "./kinds.ts";

/** "300 running, 3 unusable": the states of all nodes, in words. */
export function inWords(counts: NodeCounts): string {
  return statesOf(counts)
    .filter(([, number]) => number)
    .map(([state, number]) => `${count(number)} ${visible(stateWords(state))}`)
    .join(", ");
}

/** "of 288, 52 free, 116 out of service": the slots that aren't used, those last on nodes that take no tasks. */
export function restOfSlots({ total, used, free }: { total: number; used: number; free: number }): string {
  const out = total - used - free;
  return `of ${count(total)}, ${count(free)} free${out > 0 ? `, ${count(out)} out of service` : ""}`;
}

/** "340 nodes: 300 running, 3 unusable; 1,240 of 2,000 cores busy": the sums of an account's pools. */
export function totalsInWords({ pools, nodeCounts, cores, unknownCores }: Account): string {
  if (!pools || !nodeCounts) return "nodes not read yet";
  const nodes = sumOf(nodeCounts);
  const parts = [plural(nodes, "node") + (nodes ? `: ${inWords(nodeCounts)}` : "")];
  if (cores?.total) parts.push(`${rate(cores.busy)} of ${count(cores.total)} cores busy`);
  if (unknownCores) parts.push(`cores of ${plural(unknownCores, "node")} unknown`);
  if (pools.notRead) parts.push(`${plural(pools.notRead, "pool")} not read yet`);
  return parts.join("; ");
}
