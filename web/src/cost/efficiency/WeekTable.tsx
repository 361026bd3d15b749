// The numbers of the weekly chart as a table, for users who can't see it. Rendered when it is opened.

import { useState } from "preact/hooks";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { type WeeklyEfficiency, wastedText, weekShareText, weekText } from "./weeks.ts";

export function WeekTable({ weekly: { weeks, groups }, currency }: { weekly: WeeklyEfficiency; currency: string }) {
  const [open, setOpen] = useState(false);
  const rows = weeks.map((week, index) => ({ week, index })).toReversed();
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Efficiency by week as a table">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Week</th>
                {groups.map(({ fill, label }) => (
                  <th key={fill} scope="col" class="number">
                    <ExternalText text={label} />: used, wasted
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ week, index }) => (
                <tr key={week.first}>
                  <th scope="row">{weekText(week)}</th>
                  {groups.map(({ fill, shares, wasted }) => (
                    <td key={fill} class="number">
                      {weekShareText(shares[index])}, {wastedText(wasted[index], currency)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
