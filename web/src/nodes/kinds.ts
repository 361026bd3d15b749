// What the many states of nodes come to: a few kinds, each with a colour and a pattern of its own.

import type { NodeCounts } from "../api/model.ts";

/** In the order of a bar: what works stands on the left, trouble on the right. */
export const NODE_KINDS = ["running", "idle", "starting", "leaving", "preempted", "trouble", "other"] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

export const KIND_WORDS: Record<NodeKind, string> = {
  running: "running",
  idle: "idle",
  starting: "starting",
  leaving: "leaving or offline",
  preempted: "preempted",
  trouble: "unhealthy",
  other: "in other states",
};

const KINDS = new Map<string, NodeKind>([
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

const WORDS = new Map<string, string>([
  ["waitingforstarttask", "waiting for start task"],
  ["starttaskfailed", "start task failed"],
  ["upgradingos", "upgrading OS"],
  ["leavingpool", "leaving pool"],
]);

export function kindOf(state: string): NodeKind {
  return KINDS.get(state) ?? "other";
}

/** "waitingforstarttask" -> "waiting for start task". */
export function stateWords(state: string): string {
  return WORDS.get(state) ?? state;
}

export type KindCounts = Record<NodeKind, number>;

export function byKind(counts: NodeCounts): KindCounts {
  const sums = Object.fromEntries(NODE_KINDS.map((kind) => [kind, 0])) as KindCounts;
  for (const [state, number] of Object.entries(counts)) sums[kindOf(state)] += number;
  return sums;
}

/** States with their numbers, in the order of their kinds, then the most frequent first. */
export function statesOf(counts: NodeCounts): [string, number][] {
  const rank = (state: string) => NODE_KINDS.indexOf(kindOf(state));
  return Object.entries(counts).sort(
    ([one, few], [other, many]) => rank(one) - rank(other) || many - few || one.localeCompare(other),
  );
}

export function sumOf(counts: NodeCounts): number {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}
