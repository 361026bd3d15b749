// Filters of the task list that only links set, in words: slots, starts and run times.

import { visible } from "../../format/text.ts";
import type { TaskFilters } from "../../routing/jobView.ts";

/** A filter in words, and the change of filters that removes it. */
export interface FilterChip {
  text: string;
  without: Partial<TaskFilters>;
}

export function rangeChips(filters: TaskFilters): FilterChip[] {
  const { slots, startedFrom, startedTo, runTimeFrom, runTimeTo } = filters;
  const chips: FilterChip[] = [];
  if (slots) chips.push({ text: `Task slots: ${visible(slots)}`, without: { slots: "" } });
  if (startedFrom || startedTo)
    chips.push({
      text: `Started ${bounds(momentText(startedFrom), momentText(startedTo))}`.replace(" UTC to ", " to "),
      without: { startedFrom: "", startedTo: "" },
    });
  if (runTimeFrom || runTimeTo)
    chips.push({
      text: `Run time ${bounds(durationText(runTimeFrom), durationText(runTimeTo))}`,
      without: { runTimeFrom: "", runTimeTo: "" },
    });
  return chips;
}

function bounds(low: string, high: string): string {
  if (!low) return `to ${high}`;
  return high ? `from ${low} to ${high}` : `from ${low}`;
}

/** "90.5 s"; anything but seconds stays as it is. */
function durationText(text: string): string {
  const seconds = /^PT(\d+(?:\.\d+)?)S$/.exec(text)?.[1];
  return seconds ? `${seconds} s` : visible(text);
}

/** "2026-11-30 21:02:10.500 UTC"; anything but a time in UTC stays as it is. */
function momentText(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?)Z$/.exec(text);
  return parts ? `${parts[1]} ${parts[2]?.replace(/\.0+$/, "")} UTC` : visible(text);
}
