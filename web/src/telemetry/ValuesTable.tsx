// The charts' values as a table, for users who can't see the charts or want the numbers. Rendered when it is opened.

import { useState } from "preact/hooks";
import { formatExactTime } from "../format/dates.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { TimeGrid } from "./series/axis.ts";
import type { ChartData } from "./series/charts.ts";
import type { Value } from "./series/lines.ts";
import { valueText } from "./series/units.ts";

interface TableProps {
  charts: ChartData[];
  time: TimeGrid;
}

export function ValuesTable({ charts, time }: TableProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && <Values charts={charts} time={time} />}
    </details>
  );
}

function Values({ charts, time: { first, step, steps } }: TableProps) {
  const columns = charts.flatMap((chart) =>
    chart.lines.map(({ name, values }) => ({ chart, name, values: new Map(values.map((value) => [value.at, value])) })),
  );
  const times = Array.from({ length: steps }, (_, index) => first + (steps - 1 - index) * step);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Charts as a table">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Interval start</th>
            {columns.map(({ chart, name }) => (
              <th key={`${chart.id} ${name}`} scope="col" class="number">
                <ExternalText text={chart.title} />, <ExternalText text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at) => (
            <tr key={at}>
              <th scope="row">{formatExactTime(at)}</th>
              {columns.map(({ chart, name, values }) => (
                <td key={`${chart.id} ${name}`} class="number">
                  <Cell value={values.get(at)} chart={chart} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The mean, and below it minimum and maximum. */
function Cell({ value, chart: { unit } }: { value: Value | undefined; chart: ChartData }) {
  if (!value) return <span class="soft">no data</span>;
  return (
    <>
      {valueText(value.mean, unit)}
      <small>
        {valueText(value.min, unit)} to {valueText(value.max, unit)}
      </small>
    </>
  );
}
