// The charts of a node, below each other with a common cursor, and their values at the cursor.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../charts/useWidth.ts";
import { formatTime, timeZone } from "../format/dates.ts";
import { formatSeconds } from "../format/durations.ts";
import { plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Chart, type Cursor, rangeText, type TimeSpan, valueAt } from "./Chart.tsx";
import { extremeRows, RowMap, type RowValue } from "./RowMap.tsx";
import { inWholeSteps, noDataSpansOf, type TimeGrid, timeGridOf } from "./series/axis.ts";
import { type ChartData, chartsOf, seriesSetOf } from "./series/charts.ts";
import { customBeyond } from "./series/custom.ts";
import type { Line } from "./series/lines.ts";
import type { Telemetry } from "./series/model.ts";
import { type Unit, valueText } from "./series/units.ts";
import { ValuesTable } from "./ValuesTable.tsx";

/** The time, width and cursor that everything among the charts shares. */
export interface ChartLayout {
  time: TimeGrid;
  width: number;
  cursor: Cursor;
}

interface ChartsProps {
  telemetry: Telemetry;
  /** The time (milliseconds since 1970) from which the node is known to have existed. */
  knownSince?: number;
  /** The run that the charts are about, in whole steps. */
  run?: TimeSpan | undefined;
  /** Renders contents below a chart, by its id. */
  beside?: (id: string, layout: ChartLayout) => ComponentChildren;
  below?: (layout: ChartLayout) => ComponentChildren;
}

export function Charts({ telemetry, knownSince = Infinity, run, beside, below }: ChartsProps) {
  const { ref, width } = useWidth();
  const [pointed, point] = useState<number | null>(null);
  const {
    set,
    charts,
    time: all,
    noDataSpans,
  } = useMemo(() => chartsFrom(telemetry, knownSince), [telemetry, knownSince]);
  const time = useMemo(() => (run ? inWholeSteps(all) : all), [all, !run]);
  const isThere = pointed !== null && pointed >= time.first && pointed < time.to;
  const cursor = { at: isThere ? pointed : null, point };
  const layout = { time, width, cursor };
  const beyond = customBeyond(set);
  return (
    <div class="measures" data-testid="charts">
      <p class="when" data-testid="moment">
        {cursor.at === null ? "Latest values" : formatTime(cursor.at)}
        <small>
          {" "}
          · {formatSeconds(set.step / 1000)} intervals · times in {timeZone()}
        </small>
      </p>
      <div ref={ref}>
        {charts.map((chart) => (
          <figure key={chart.id} class="measure" data-chart={chart.id}>
            <figcaption>
              <h5>
                <ExternalText text={chart.title} />
                {chart.limit !== null && <small> of {valueText(chart.limit, chart.unit)}</small>}
              </h5>
              <Legend chart={chart} at={cursor.at} />
            </figcaption>
            <Chart chart={chart} noDataSpans={noDataSpans} run={run} {...layout} />
            {chart.members && <Members chart={chart} members={chart.members} {...layout} />}
            {beside?.(chart.id, layout)}
          </figure>
        ))}
        {beyond > 0 && (
          <p class="soft" data-testid="custom-beyond">
            {plural(beyond, "more custom metric")} {beyond === 1 ? "isn't" : "aren't"} drawn; the CSV has them.
          </p>
        )}
        {below?.(layout)}
      </div>
      <footer class="key">
        <span>
          <i class="swatch between" aria-hidden="true" /> minimum to maximum per interval; the line is the mean
        </span>
        {run && (
          <span>
            <i class="swatch ran" aria-hidden="true" /> the task's run; the first and last interval are shown in full
          </span>
        )}
        {noDataSpans.length > 0 && (
          <span>
            <i class="swatch hatched" aria-hidden="true" /> no data
          </span>
        )}
      </footer>
      <ValuesTable charts={charts} time={time} />
    </div>
  );
}

function chartsFrom(telemetry: Telemetry, knownSince: number) {
  const set = seriesSetOf(telemetry);
  const time = timeGridOf(Date.parse(telemetry.from), Date.parse(telemetry.to), set, knownSince);
  return { set, time, charts: chartsOf(set), noDataSpans: noDataSpansOf(set) };
}

function Legend({ chart, at }: { chart: ChartData; at: number | null }) {
  const { lines, lineCount } = chart;
  return (
    <p class="values" data-many={lines.length > 2 ? "yes" : "no"}>
      {lines.map((line, tone) => (
        <span key={line.name} data-tone={tone}>
          <i class="stroke" aria-hidden="true" />
          <ExternalText text={line.name} />{" "}
          <LegendValue line={line} chart={chart} at={at} />
        </span>
      ))}
      {lineCount > lines.length && (
        <span>
          and {lineCount - lines.length} more, {chart.id === "filesystem" ? "less full" : "lower"}
        </span>
      )}
    </p>
  );
}

/** Each of many devices in a row, and in words those with the highest and the lowest value. */
function Members({ chart, members, ...layout }: ChartLayout & { chart: ChartData; members: Line[] }) {
  const { unit, limit } = chart;
  const words = (at: number | null) => {
    const found = extremeRows(members, at);
    const text = ({ name, mean }: RowValue) => `${visible(name)} (${valueText(mean, unit)})`;
    return found ? `Highest: ${text(found.highest)}; lowest: ${text(found.lowest)}.` : "No data.";
  };
  return (
    <div class="cores">
      <p class="values" data-testid={`${chart.id}-members`}>
        {words(layout.cursor.at)} Darker means higher.
      </p>
      <RowMap rows={members} range={rangeOf(unit, limit ?? highestOf(members))} label={`${chart.title}: ${words(null)}`} {...layout} />
    </div>
  );
}

/** The values of the lightest and the darkest cells; GPUs are mostly between 30 and 90 degrees. */
function rangeOf(unit: Unit, top: number): [number, number] {
  if (unit === "share") return [0, 1];
  return unit === "degrees" ? [30, 90] : [0, top];
}

function highestOf(members: Line[]): number {
  const means = members.flatMap(({ values }) => values.map(({ mean }) => mean));
  return means.reduce((most, mean) => Math.max(most, mean), Number.MIN_VALUE);
}

function LegendValue({ line, chart, at }: { line: Line; chart: ChartData; at: number | null }) {
  const value = valueAt(line, at);
  return value ? (
    <>
      <b>{valueText(value.mean, chart.unit)}</b>
      <small>{rangeText(value, chart.unit)}</small>
    </>
  ) : (
    <span class="soft">–</span>
  );
}
