// A node's earlier states, folded for the eye: where tasks are short it runs, rests and runs again between two polls.

import type { StatePeriod } from "../../nodes/model.ts";
import { stateGroupOf } from "../../nodes/stateGroups.ts";

export interface Stretch extends StatePeriod {
  /** How often it left this state and came back without a poll that saw it. */
  unseen: number;
}

const FOLDED = new Set(["running", "idle"]);

/** Latest first, as they are told; only what is well is folded: that a node was twice unusable is no detail. */
export function stretchesOf(history: StatePeriod[]): Stretch[] {
  const found: Stretch[] = [];
  for (const past of history) {
    const [later, between] = found.slice(-2);
    if (later && between && folds(past, between, later)) {
      found.pop();
      later.since = past.since;
      later.unseen += 1;
    } else found.push({ ...past, unseen: 0 });
  }
  return found;
}

function folds(past: StatePeriod, between: StatePeriod, later: StatePeriod): boolean {
  return past.state !== null && between.state === null && later.state === past.state && FOLDED.has(stateGroupOf(past.state));
}
