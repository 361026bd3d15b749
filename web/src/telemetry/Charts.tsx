// The charts of a node, one below the other with one cursor, and what each says at the moment that is pointed at.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../charts/useWidth.ts";
import { moment, zone } from "../format/dates.ts";
import { seconds } from "../format/durations.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { betweenOf, Chart, type Cursor, type Span, valueAt } from "./Chart.tsx";
import { inWholeSteps, silencesOf, type Time, timeOf } from "./series/axis.ts";
import { type Chart as Charted, chartsOf, measuresOf } from "./series/charts.ts";
import type { Line } from "./series/lines.ts";
import type { Telemetry } from "./series/model.ts";
import { measured } from "./series/units.ts";
import { ValuesTable } from "./ValuesTable.tsx";

/** What stands among the charts knows their time, width and cursor. */
export interface Place {
  time: Time;
  width: number;
  cursor: Cursor;
}

interface ChartsProps {
  telemetry: Telemetry;
  /** Before this moment (milliseconds since 1970) there was nothing to measure, as far as is known. */
  begun?: number;
  /** What the charts are about, in whole steps. */
  run?: Span | undefined;
  /** Beside a chart, by its id. */
  beside?: (id: string, place: Place) => ComponentChildren;
  below?: (place: Place) => ComponentChildren;
}

export function Charts({ telemetry, begun = Infinity, run, beside, below }: ChartsProps) {
  const { ref, width } = useWidth();
  const [pointed, point] = useState<number | null>(null);
  const { measures, charts, time: all, silences } = useMemo(() => drawnOf(telemetry, begun), [telemetry, begun]);
  const time = useMemo(() => (run ? inWholeSteps(all) : all), [all, !run]);
  const isThere = pointed !== null && pointed >= time.first && pointed < time.to;
  const cursor = { at: isThere ? pointed : null, point };
  const place = { time, width, cursor };
  return (
    <div class="measures" data-testid="charts">
      <p class="when" data-testid="moment">
        {cursor.at === null ? "Latest values" : moment(cursor.at)}
        <small>
          {" "}
          · {seconds(measures.step / 1000)} intervals · times in {zone()}
        </small>
      </p>
      <div ref={ref}>
        {charts.map((chart) => (
          <figure key={chart.id} class="measure" data-chart={chart.id}>
            <figcaption>
              <h5>
                {chart.title}
                {chart.limit !== null && <small> of {measured(chart.limit, chart.unit)}</small>}
              </h5>
              <Legend chart={chart} at={cursor.at} />
            </figcaption>
            <Chart chart={chart} silences={silences} run={run} {...place} />
            {beside?.(chart.id, place)}
          </figure>
        ))}
        {below?.(place)}
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
        {silences.length > 0 && (
          <span>
            <i class="swatch hatched" aria-hidden="true" /> no data
          </span>
        )}
      </footer>
      <ValuesTable charts={charts} time={time} />
    </div>
  );
}

function drawnOf(telemetry: Telemetry, begun: number) {
  const measures = measuresOf(telemetry);
  const time = timeOf(Date.parse(telemetry.from), Date.parse(telemetry.to), measures, begun);
  return { measures, time, charts: chartsOf(measures), silences: silencesOf(measures) };
}

function Legend({ chart, at }: { chart: Charted; at: number | null }) {
  const { lines, most } = chart;
  return (
    <p class="values" data-many={lines.length > 2 ? "yes" : "no"}>
      {lines.map((line, tone) => (
        <span key={line.name} data-tone={tone}>
          <i class="stroke" aria-hidden="true" />
          <ExternalText text={line.name} />{" "}
          <Shown line={line} chart={chart} at={at} />
        </span>
      ))}
      {most > lines.length && <span>and {most - lines.length} more, less full</span>}
    </p>
  );
}

function Shown({ line, chart, at }: { line: Line; chart: Charted; at: number | null }) {
  const value = valueAt(line, at);
  return value ? (
    <>
      <b>{measured(value.mean, chart.unit)}</b>
      <small>{betweenOf(value, chart.unit)}</small>
    </>
  ) : (
    <span class="soft">–</span>
  );
}
