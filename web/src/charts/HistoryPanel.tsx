// A history: states, numbers at the cursor, chart, and table.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { timeZone } from "../format/dates.ts";
import { HistoryChart } from "./HistoryChart.tsx";
import { type Columns, HistoryTable } from "./HistoryTable.tsx";
import { type LegendEntry, StateLegend } from "./StateLegend.tsx";
import type { Scale } from "./scales.ts";
import type { Series } from "./stack.ts";

interface HistoryPanelProps<State extends string, Point> {
  /** What the history is of, such as "job", and its creation in milliseconds since 1970. */
  noun: string;
  created: number;
  /** The points' numbers by state, and the points themselves in the same order. */
  series: Series<State>;
  points: readonly Point[];
  /** The states that can be shown, the first at the bottom. Names of layers are `layerPrefix` and the state. */
  states: readonly State[];
  layerPrefix?: string;
  entryOf: (state: State) => Omit<LegendEntry<State>, "state" | "number">;
  /** A point's time and other numbers, and the same with the states for screen readers. */
  details: (point: Point) => ComponentChildren;
  textOf: (point: Point) => string;
  /** What the numbers are, and the signs in the chart other than those of all histories. */
  caption: string;
  signs?: ComponentChildren;
  /** Renders contents above the states, up to the value `overlayHeight`. */
  overlay?: (x: Scale, y: Scale) => ComponentChildren;
  overlayHeight?: number;
  columns: Columns<Point>;
}

export function HistoryPanel<State extends string, Point>(props: HistoryPanelProps<State, Point>) {
  const { noun, created, series, points, states, entryOf, details, textOf } = props;
  const [hidden, setHidden] = useState<readonly State[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const cursor = pointed !== null && pointed < points.length ? pointed : null;
  const latest = series.value.findLastIndex(({ counts }) => counts);
  if (latest < 0) {
    const young = created > Date.parse(series.from) && ` The ${noun} is younger than the range; choose a shorter one.`;
    return <p class="nothing">No data in this range.{young}</p>;
  }
  const point = points[cursor ?? latest];
  const counts = series.value[cursor ?? latest]?.counts;
  const entries = states.map((state) => ({ state, number: counts ? counts[state] : null, ...entryOf(state) }));
  return (
    <>
      <StateLegend entries={entries} hidden={hidden} setHidden={setHidden}>
        {cursor === null && "Latest: "}
        {point && details(point)}
      </StateLegend>
      <HistoryChart
        history={series}
        states={states.filter((state) => !hidden.includes(state))}
        layerPrefix={props.layerPrefix ?? ""}
        created={created}
        cursor={cursor}
        point={setCursor}
        cursorText={point ? textOf(point) : ""}
        overlay={props.overlay}
        overlayHeight={props.overlayHeight ?? 0}
      />
      <footer class="key">
        {props.signs}
        <span>
          <i class="swatch hatched" aria-hidden="true" /> not polled
        </span>
        <span>
          <i class="swatch doubtful" aria-hidden="true" /> not confirmed as exact
        </span>
        <span class="zone">
          {props.caption} · times in {timeZone()}
        </span>
      </footer>
      <HistoryTable series={series} points={points} columns={props.columns} />
    </>
  );
}
