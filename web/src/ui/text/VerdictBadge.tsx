// A verdict's level as a badge; its reason is the tooltip.

import type { Verdict } from "../../api/model.ts";
import { spacedWords, visible } from "../../format/text.ts";
import { useTooltip } from "./Tooltip.tsx";

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const handlers = useTooltip(verdict.reason);
  return (
    <button type="button" class="badge" data-level={verdict.level} {...handlers}>
      {spacedWords(verdict.level)}
      <span class="unseen">: {visible(verdict.reason)}</span>
    </button>
  );
}
