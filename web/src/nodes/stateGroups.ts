// Groups the states of nodes; each group has its own colour and pattern.

import type { NodeCounts } from "../api/model.ts";

/** In the order of a bar: working nodes on the left, unhealthy ones on the right. */
export const STATE_GROUPS = ["running", "idle", "starting", "leaving", "preempted", "trouble", "other"] as const;
export type StateGroup = (typeof STATE_GROUPS)[number];

export const GROUP_LABELS: Record<StateGroup, string> = {
  running: "running",
  idle: "idle",
  starting: "starting",
  leaving: "leaving or offline",
  preempted: "preempted",
  trouble: "unhealthy",
  other: "in other states",
};

const GROUPS_BY_STATE = new Map<string, StateGroup>([
  ["running", "running"],
  ["idle", "idle"],
  ["creating", "starting"],
  ["starting", "starting"],
  ["waitingforstarttask", "starting"],
  ["rebooting", "starting"],
  ["reimaging", "starting"],
  ["upgradingos", "starting"],
  ["leavingpool", "leaving"],
  ["offline", "leaving"],
  ["deallocating", "leaving"],
  ["deallocated", "leaving"],
  ["preempted", "preempted"],
  ["unusable", "trouble"],
  ["starttaskfailed", "trouble"],
  ["unknown", "trouble"],
]);

const LABELS = new Map<string, string>([
  ["waitingforstarttask", "waiting for start task"],
  ["starttaskfailed", "start task failed"],
  ["upgradingos", "upgrading OS"],
  ["leavingpool", "leaving pool"],
]);

export function stateGroupOf(state: string): StateGroup {
  return GROUPS_BY_STATE.get(state) ?? "other";
}

/** "waitingforstarttask" -> "waiting for start task". */
export function stateLabel(state: string): string {
  return LABELS.get(state) ?? state;
}

type GroupCounts = Record<StateGroup, number>;

export function countsByGroup(counts: NodeCounts): GroupCounts {
  const sums = Object.fromEntries(STATE_GROUPS.map((group) => [group, 0])) as GroupCounts;
  for (const [state, number] of Object.entries(counts)) sums[stateGroupOf(state)] += number;
  return sums;
}

/** States with their numbers, in the order of their groups, then the most frequent first. */
export function sortedStates(counts: NodeCounts): [string, number][] {
  const rank = (state: string) => STATE_GROUPS.indexOf(stateGroupOf(state));
  return Object.entries(counts).sort(
    ([one, few], [other, many]) => rank(one) - rank(other) || many - few || one.localeCompare(other),
  );
}

export function nodeTotal(counts: NodeCounts): number {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}
