// A shorter history of a node: with short tasks it runs, is idle and runs again between two polls.

import type { StatePeriod } from "../../nodes/model.ts";
import { stateGroupOf } from "../../nodes/stateGroups.ts";

interface FoldedPeriod extends StatePeriod {
  /** The number of times it left this state and returned, without a poll that recorded it. */
  unseen: number;
}

const FOLDED = new Set(["running", "idle"]);

/** Folds unrecorded interruptions of healthy states; latest first. Unhealthy periods stay separate. */
export function foldedHistory(history: StatePeriod[]): FoldedPeriod[] {
  const found: FoldedPeriod[] = [];
  for (const period of history) {
    const [later, between] = found.slice(-2);
    if (later && between && folds(period, between, later)) {
      found.pop();
      later.since = period.since;
      later.unseen += 1;
    } else found.push({ ...period, unseen: 0 });
  }
  return found;
}

function folds(period: StatePeriod, between: StatePeriod, later: StatePeriod): boolean {
  return period.state !== null && between.state === null && later.state === period.state && FOLDED.has(stateGroupOf(period.state));
}
