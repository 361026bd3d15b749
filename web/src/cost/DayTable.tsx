// The numbers of the cost chart as a table, for users who can't see it. Rendered when it is opened.

import { useState } from "preact/hooks";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { CostBars } from "./amounts/bars.ts";
import { weekdayText } from "./amounts/days.ts";
import { formatMoney, type Micros } from "./amounts/money.ts";
import { hoursText, totalText } from "./amounts/texts.ts";

export function DayTable({ bars: { days, parts }, currency }: { bars: CostBars; currency: string }) {
  const [open, setOpen] = useState(false);
  const rows = days.map((day, index) => ({ day, index })).toReversed();
  const money = (amount: Micros | undefined) => (amount ? formatMoney(amount, currency) : <span class="zero">–</span>);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Costs by day as a table">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="number">
                  Total
                </th>
                {parts.map(({ label, fill }) => (
                  <th key={`${fill} ${label}`} scope="col" class="number">
                    <ExternalText text={label} />
                  </th>
                ))}
                <th scope="col" class="number">
                  Not watched
                </th>
                <th scope="col" class="number">
                  Without price
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ day, index }) => (
                <tr key={day.date}>
                  <th scope="row">{weekdayText(day.date)}</th>
                  <td class={day.total === null ? "number gone" : "number"}>{totalText(day, currency)}</td>
                  {parts.map(({ label, fill, amounts }) => (
                    <td key={`${fill} ${label}`} class="number">
                      {money(amounts[index])}
                    </td>
                  ))}
                  <td class="number">{money(day.uncertain)}</td>
                  <td class="number">{day.unpricedSeconds ? hoursText(day.unpricedSeconds) : <span class="zero">–</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
