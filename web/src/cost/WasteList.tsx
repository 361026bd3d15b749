// What was paid for without a result, by cost class, the dearest first.

import type { AccountCost } from "./amounts/model.ts";
import { amountText, hoursText, shareText } from "./amounts/texts.ts";
import { wasteOf } from "./amounts/waste.ts";

export function WasteList({ cost }: { cost: AccountCost }) {
  const entries = wasteOf(cost.cost);
  if (!entries.length) return <p class="waste-note">Nothing was wasted in this range.</p>;
  return (
    <ol class="cost-waste" data-testid="waste">
      {entries.map(({ name, label, meaning, amount, seconds }) => (
        <li key={name} data-class={name}>
          <p class="sum">
            <b>{amountText(amount, cost.currency)}</b>{" "}
            {amount !== null && <small>{shareText(amount, cost.cost.amount)}</small>}
          </p>
          <div>
            <h4 class="initial">
              {label} <small>{hoursText(seconds)}</small>
            </h4>
            <p>{meaning}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}
