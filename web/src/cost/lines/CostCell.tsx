// The cell of a list with what a job or a pool cost in the last days.

import { amountText } from "../amounts/texts.ts";
import { totalDetails } from "./texts.ts";
import { type NamedCost, TOTAL_DAYS } from "./totals.ts";

export const COST_HEADING = `Cost, ${TOTAL_DAYS} d`;

export function CostCell({ total }: { total: NamedCost | undefined }) {
  return (
    <td role="cell" class="number cost" data-empty={!total} title={total && totalDetails(total)}>
      <span class="label">{COST_HEADING}</span>
      {total ? amountText(total.cost.amount, total.currency) : <span class="zero">–</span>}
    </td>
  );
}
