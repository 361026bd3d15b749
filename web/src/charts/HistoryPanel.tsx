// A history: states, numbers at the cursor, chart, and table.

import { useMemo, useState } from "preact/hooks";
import { timeZone } from "../format/dates.ts";
import { HistoryChart } from "./HistoryChart.tsx";
import { HistoryTable } from "./HistoryTable.tsx";
import { type History, type HistoryKind, type HistoryPoint, seriesOf } from "./history.ts";
import { StateLegend } from "./StateLegend.tsx";

interface HistoryPanelProps<Point extends HistoryPoint, State extends string> {
  kind: HistoryKind<Point, State>;
  history: History<Point>;
  /** The creation of the history's subject, in milliseconds since 1970. */
  created: number;
}

export function HistoryPanel<Point extends HistoryPoint, State extends string>({
  kind,
  history,
  created,
}: HistoryPanelProps<Point, State>) {
  const points = history.value;
  const series = useMemo(() => seriesOf(history, kind.countsOf), [history, kind.countsOf]);
  const [hidden, setHidden] = useState<readonly State[]>([]);
  const [pointed, setCursor] = useState<number | null>(null);
  const cursor = pointed !== null && pointed < points.length ? pointed : null;
  const latest = series.value.findLastIndex(({ counts }) => counts);
  if (latest < 0) {
    const isYounger = created > Date.parse(series.from);
    return (
      <p class="nothing">
        No data in this range.{isYounger && ` The ${kind.noun} is younger than the range; choose a shorter one.`}
      </p>
    );
  }
  const states = kind.statesOf(series);
  const point = points[cursor ?? latest];
  const counts = series.value[cursor ?? latest]?.counts;
  const entries = states.map((state) => ({ state, number: counts ? counts[state] : null, ...kind.entryOf(state) }));
  return (
    <>
      <StateLegend entries={entries} hidden={hidden} setHidden={setHidden}>
        {cursor === null && "Latest: "}
        {point && kind.details(point)}
      </StateLegend>
      <HistoryChart
        history={series}
        states={states.filter((state) => !hidden.includes(state))}
        layerPrefix={kind.layerPrefix ?? ""}
        isStepped={Boolean(kind.means)}
        created={created}
        cursor={cursor}
        point={setCursor}
        cursorText={point ? kind.textOf(point) : ""}
        overlay={(x, y) => kind.overlay?.(history, created, x, y)}
        overlayHeight={kind.overlayHeight?.(points) ?? 0}
      />
      <footer class="key">
        {kind.signs?.(points)}
        <span>
          <i class="swatch hatched" aria-hidden="true" /> {kind.means?.gap ?? "not polled"}
        </span>
        {!kind.means && (
          <span>
            <i class="swatch doubtful" aria-hidden="true" /> not confirmed as exact
          </span>
        )}
        <span class="zone">
          {kind.caption} · times in {timeZone()}
        </span>
      </footer>
      <HistoryTable series={series} points={points} columns={kind.columns} means={kind.means} />
    </>
  );
}
