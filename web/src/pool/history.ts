// A pool's history: its points as numbers by group of states, and as text.

import type { Series } from "../charts/stack.ts";
import { formatTime } from "../format/dates.ts";
import { formatSeconds } from "../format/durations.ts";
import { formatCount, formatRate, plural } from "../format/numbers.ts";
import { countsByGroup, GROUP_LABELS, STATE_GROUPS, type StateGroup } from "../nodes/stateGroups.ts";
import { wordsOfCause } from "../ui/text/causes.ts";
import type { PoolPoint } from "./model.ts";

export function countsOf({ nodeCounts }: PoolPoint): Record<StateGroup, number> | null {
  return nodeCounts && countsByGroup(nodeCounts);
}

/** Cores by the groups whose colours they have: busy ones as running, all others as idle. */
export type CoreGroup = Extract<StateGroup, "running" | "idle">;

/** Null where no poll ran, or the cores of a node are unknown. */
export function coresOf({ cores }: PoolPoint): Record<CoreGroup, number> | null {
  if (!cores) return null;
  const busy = Math.round(cores.busy * 10) / 10;
  return { running: busy, idle: Math.max(0, cores.total - busy) };
}

/** The groups that any point has, in their order. */
export function groupsIn({ value }: Series<StateGroup>): StateGroup[] {
  const found = STATE_GROUPS.filter((group) => value.some(({ counts }) => counts?.[group]));
  return found.length ? found : ["idle"];
}

export function targetOf({ target }: PoolPoint): number | null {
  if (!target || (target.dedicated === null && target.spot === null)) return null;
  return (target.dedicated ?? 0) + (target.spot ?? 0);
}

/** The time of a point, and all its numbers but the states. */
export function pointDetails(point: PoolPoint): string {
  const time = formatTime(Date.parse(point.time));
  if (!point.nodeCounts) return `${time}, not polled`;
  const { slots, cores, preempted, resizeErrors, exact } = point;
  const target = targetOf(point);
  const parts = [
    time,
    target !== null && `target ${formatCount(target)}`,
    slots && `${formatCount(slots.used)} of ${formatCount(slots.total)} slots`,
    cores && `${formatRate(cores.busy)} of ${formatCount(cores.total)} cores`,
    preempted && plural(preempted, "interruption"),
    resizeErrors && plural(resizeErrors, "resize error"),
    waitedText(point),
    exact !== true && "not confirmed as exact",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** "tasks waited 2h 5min for slots busy, 30s for pool empty", the longest first; "" where none did. */
export function waitedText({ waitedSeconds }: PoolPoint): string {
  const causes = Object.entries(waitedSeconds ?? {}).sort(([, one], [, other]) => other - one);
  const times = causes.map(([cause, seconds]) => `${formatSeconds(seconds)} (${wordsOfCause(cause)})`);
  return times.length ? `tasks waited ${times.join(", ")}` : "";
}

export function pointText(point: PoolPoint | undefined): string {
  if (!point) return "";
  if (!point.nodeCounts) return pointDetails(point);
  const counts = countsByGroup(point.nodeCounts);
  const states = STATE_GROUPS.filter((group) => counts[group]).map(
    (group) => `${formatCount(counts[group])} ${GROUP_LABELS[group]}`,
  );
  return `${pointDetails(point)}: ${states.join(", ") || "no nodes"}`;
}
