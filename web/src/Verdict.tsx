// How sure the counts are, as a word with its reason behind it.

import type { Verdict } from "./model";
import { visible } from "./Outside";
import { useTip } from "./Tip";
import { spoken } from "./words";

export function Badge({ verdict }: { verdict: Verdict }) {
  const tip = useTip(verdict.reason);
  return (
    <button type="button" class="badge" data-level={verdict.level} {...tip}>
      {spoken(verdict.level)}
      <span class="unseen">: {visible(verdict.reason)}</span>
    </button>
  );
}
