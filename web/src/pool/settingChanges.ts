// Changes of a pool's settings: by the moment at which they were made, and as text.

import type { ChangeMark } from "../charts/changes.ts";
import { plural } from "../format/numbers.ts";
import type { SettingChange } from "./model.ts";

const MAX_NAMED = 3; // changes in a text

/** The changes of each moment, the latest first. */
export function momentsOf(changes: readonly SettingChange[]): { at: number; changes: SettingChange[] }[] {
  const moments = new Map<number, SettingChange[]>();
  for (const change of changes) {
    const at = Date.parse(change.time);
    moments.set(at, [...(moments.get(at) ?? []), change]);
  }
  return [...moments].map(([at, some]) => ({ at, changes: some }));
}

/** The marks of the moments in charts. */
export function marksOf(changes: readonly SettingChange[]): ChangeMark[] {
  return momentsOf(changes).map(({ at, changes: some }) => ({ at, text: changesText(some) }));
}

export function changeText({ name, before, after }: SettingChange): string {
  return `${name} ${before ?? "none"} → ${after ?? "none"}`;
}

/** "taskSlotsPerNode 4 → 8, and 2 more changes". */
export function changesText(changes: readonly SettingChange[]): string {
  const more = changes.length - MAX_NAMED;
  const named = changes.slice(0, MAX_NAMED).map(changeText).join(", ");
  return more > 0 ? `${named}, and ${plural(more, "more change")}` : named;
}
