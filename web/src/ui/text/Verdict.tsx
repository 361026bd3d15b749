// How sure the counts are, as a word with its reason behind it.

import type { Verdict } from "../../api/model.ts";
import { spoken, visible } from "../../format/text.ts";
import { useTip } from "./Tip.tsx";

export function Badge({ verdict }: { verdict: Verdict }) {
  const tip = useTip(verdict.reason);
  return (
    <button type="button" class="badge" data-level={verdict.level} {...tip}>
      {spoken(verdict.level)}
      <span class="unseen">: {visible(verdict.reason)}</span>
    </button>
  );
}
