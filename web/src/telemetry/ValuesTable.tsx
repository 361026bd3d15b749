// The charts' values as a table, for those who can't see the charts or want the numbers. It is made when it is opened.

import { useState } from "preact/hooks";
import { exactMoment } from "../format/dates.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Time } from "./series/axis.ts";
import type { Chart } from "./series/charts.ts";
import type { Value } from "./series/lines.ts";
import { measured } from "./series/units.ts";

interface TableProps {
  charts: Chart[];
  time: Time;
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
                {chart.title}, <ExternalText text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at) => (
            <tr key={at}>
              <th scope="row">{exactMoment(at)}</th>
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

/** The mean, and below it the lowest and the highest. */
function Cell({ value, chart: { unit } }: { value: Value | undefined; chart: Chart }) {
  if (!value) return <span class="soft">no data</span>;
  return (
    <>
      {measured(value.mean, unit)}
      <small>
        {measured(value.min, unit)} to {measured(value.max, unit)}
      </small>
    </>
  );
}
