// A history as a table, for users who can't see the chart or want the numbers. Rendered when it is opened.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatExactTime } from "../format/dates.ts";
import type { Means } from "./history.ts";
import type { Series } from "./stack.ts";

/** Columns by key: `text` ones, then `numbers`, each with a heading and a value. */
export interface Columns<Point> {
  /** Columns that also points without numbers fill. */
  always?: Column<Point>[];
  text?: Column<Point>[];
  numbers: Column<Point>[];
}

export interface Column<Point> {
  key: string;
  heading: ComponentChildren;
  capital?: boolean;
  value: (point: Point) => ComponentChildren;
}

interface HistoryTableProps<Point> {
  series: Series<string>;
  points: readonly Point[];
  columns: Columns<Point>;
  means: Means<Point> | undefined;
}

export function HistoryTable<Point>({ series, points, columns, means }: HistoryTableProps<Point>) {
  const [open, setOpen] = useState(false);
  const { always = [], text = [], numbers } = columns;
  const rows = series.value.flatMap((shown, index) => {
    const point = points[index];
    return point === undefined ? [] : [{ ...shown, point }];
  });
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        <div class="scroll" tabIndex={0} role="region" aria-label="History as a table">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">{means?.heading ?? "Interval end"}</th>
                {[...always, ...text].map(({ key, heading }) => (
                  <th key={key} scope="col">
                    {heading}
                  </th>
                ))}
                {numbers.map(({ key, heading, capital }) => (
                  <th key={key} scope="col" class={capital ? "number capital" : "number"}>
                    {heading}
                  </th>
                ))}
                {!means && <th scope="col">Exact</th>}
              </tr>
            </thead>
            <tbody>
              {rows.toReversed().map(({ time, counts, exact, point }) => (
                <tr key={time}>
                  <th scope="row">{means ? means.stepOf(point) : formatExactTime(Date.parse(time))}</th>
                  {always.map(({ key, value }) => (
                    <td key={key}>{value(point)}</td>
                  ))}
                  {counts ? (
                    <>
                      {text.map(({ key, value }) => (
                        <td key={key}>{value(point)}</td>
                      ))}
                      {numbers.map(({ key, value }) => (
                        <td key={key} class="number">
                          {value(point)}
                        </td>
                      ))}
                    </>
                  ) : (
                    <td class="gone" colSpan={text.length + numbers.length}>
                      {means?.gap ?? "not polled"}
                    </td>
                  )}
                  {!means && <td>{counts ? (exact ? "yes" : "not confirmed") : ""}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
