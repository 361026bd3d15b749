// Texts about the nodes of a pool or an account.

import type { Account, NodeCounts } from "../api/model.ts";
import { formatCount, formatRate, formatShare, plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { nodeTotal, sortedStates, stateLabel } from "./stateGroups.ts";

/** "300 running, 3 unusable". */
export function nodeStatesText(counts: NodeCounts): string {
  return sortedStates(counts)
    .filter(([, number]) => number)
    .map(([state, number]) => `${formatCount(number)} ${visible(stateLabel(state))}`)
    .join(", ");
}

/** "of 288, 52 free, 116 out of service", where nodes that accept no tasks have slots out of service. */
export function slotsText({ total, used, free }: { total: number; used: number; free: number }): string {
  const out = total - used - free;
  return `of ${formatCount(total)}, ${formatCount(free)} free${out > 0 ? `, ${formatCount(out)} out of service` : ""}`;
}

/** "of 2,000, 62%"; without a share if there are no cores. */
export function coresText({ total, busy }: { total: number; busy: number }): string {
  return `of ${formatCount(total)}${total ? `, ${formatShare(busy, total)}` : ""}`;
}

/** "cores of 3 nodes unknown"; of a pool without nodes those of its VM size. */
export function unknownCoresText(nodes: number | null): string {
  return nodes ? `cores of ${plural(nodes, "node")} unknown` : "cores of this VM size unknown";
}

/** "standard_d4s_v5", or "Mix: 3 × standard_d4s_v5, 2 × standard_e4s_v5", the most frequent first. */
/** "1.12.3 on 2 nodes, 1.13.0 on 3 nodes", the oldest first; null where no node names its agent's version. */
export function agentVersionsText(versions: Record<string, number> | null): string | null {
  const found = Object.entries(versions ?? {}).map(([version, nodes]) => `${version} on ${plural(nodes, "node")}`);
  return found.join(", ") || null;
}

export function vmSizesText({ vmSize, vmSizes }: { vmSize: string; vmSizes: Record<string, number> | null }): string {
  const sizes = Object.entries(vmSizes ?? {}).sort(([, one], [, other]) => other - one);
  const isMixed = sizes.some(([size]) => size.toLowerCase() !== vmSize.toLowerCase());
  if (!isMixed) return vmSize;
  return `${vmSize}: ${sizes.map(([size, nodes]) => `${formatCount(nodes)} × ${size}`).join(", ")}`;
}

/** "340 nodes: 300 running, 3 unusable; 1,240 of 2,000 cores busy", over all pools of the account. */
export function accountNodesText({ pools, nodeCounts, cores, unknownCores }: Account): string {
  if (!pools || !nodeCounts) return "nodes not read yet";
  const nodes = nodeTotal(nodeCounts);
  const parts = [plural(nodes, "node") + (nodes ? `: ${nodeStatesText(nodeCounts)}` : "")];
  if (cores?.total) parts.push(`${formatRate(cores.busy)} of ${formatCount(cores.total)} cores busy`);
  if (unknownCores) parts.push(`cores of ${plural(unknownCores, "node")} unknown`);
  if (pools.notRead) parts.push(`${plural(pools.notRead, "pool")} not read yet`);
  return parts.join("; ");
}
