// The cell of the list of jobs with the used shares of what their tasks' slots offer.

import type { JobEfficiency } from "../api/model.ts";
import { plural } from "../format/numbers.ts";
import { shareTexts } from "../format/shares.ts";

export const EFFICIENCY_HEADING = "Efficiency";

export function EfficiencyCell({ efficiency }: { efficiency: JobEfficiency | null }) {
  const shares = efficiency ? shareTexts(efficiency) : [];
  const title = efficiency
    ? `${plural(efficiency.measuredRuns, "measured run")}${shares.length ? "" : ", too few or on unknown nodes"}`
    : undefined;
  return (
    <td role="cell" class="number shares" data-empty={!shares.length} title={title}>
      <span class="label">{EFFICIENCY_HEADING}</span>
      {shares.length ? shares.map((share) => <span key={share}>{share}</span>) : <span class="zero">–</span>}
    </td>
  );
}
