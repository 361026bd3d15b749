// The monthly budgets of an account, of its pools and of its job schedules: what is spent, and what will be.

import { ExternalText } from "../ui/text/ExternalText.tsx";
import { scopeText, spentText, stateText } from "./amounts/budgets.ts";
import type { Budget } from "./amounts/model.ts";

export function BudgetList({ budgets }: { budgets: readonly Budget[] }) {
  return (
    <ul class="cost-budgets" data-testid="budgets">
      {budgets.map((budget) => (
        <li key={budget.name} data-budget={budget.name} data-state={budget.state}>
          <h4>
            <ExternalText text={budget.name} /> <small>for <ExternalText text={scopeText(budget)} /></small>
          </h4>
          <Meter budget={budget} />
          <p>
            <b>{spentText(budget)}.</b> <ExternalText text={stateText(budget)} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The spent part, and the forecast behind it; hidden from screen readers, as the text has both. */
function Meter({ budget: { spent, amount, forecast } }: { budget: Budget }) {
  const share = (part: number | null) => `${Math.min(100, ((part ?? 0) / amount) * 100)}%`;
  return (
    <div class="meter" aria-hidden="true">
      <span class="ahead" style={{ width: share(forecast?.amount ?? null) }} />
      <span class="spent" style={{ width: share(spent) }} />
    </div>
  );
}
