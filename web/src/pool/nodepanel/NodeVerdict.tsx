// The verdict on a node's data, if it isn't exact. The pool's summary has the reason.

import type { VerdictLevel } from "../../api/model.ts";
import { capitalized, spacedWords } from "../../format/text.ts";

const MEANINGS: Record<VerdictLevel, string> = {
  exact: "",
  unverified: "the pool's nodes may have been read at different times.",
  catchingUp: "the pool's nodes are still being read.",
  stale: "no poll has read this node since then, so it may have changed.",
};

export function NodeVerdict({ level }: { level: VerdictLevel }) {
  if (level === "exact") return null;
  return (
    <p class="node-level" data-level={level} data-testid="node-level">
      <strong>{capitalized(spacedWords(level))}:</strong> {MEANINGS[level]}
    </p>
  );
}
