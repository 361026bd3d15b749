// How sure what is told of a node is, where that isn't exact; why, its pool tells.

import type { Level } from "../../api/model.ts";
import { begun, spoken } from "../../format/text.ts";

const MEANINGS: Record<Level, string> = {
  exact: "",
  unverified: "what is told of its pool's nodes may not be of one moment.",
  catchingUp: "more is being read.",
  stale: "no poll has told of it since then, and it may be otherwise by now.",
};

export function NodeLevel({ level }: { level: Level }) {
  if (level === "exact") return null;
  return (
    <p class="node-level" data-level={level} data-testid="node-level">
      <strong>{begun(spoken(level))}:</strong> {MEANINGS[level]}
    </p>
  );
}
