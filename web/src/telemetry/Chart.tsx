// One chart of a node: means as lines, within bands from the minimum to the maximum; steps without data stay empty.

import { useMemo } from "preact/hooks";
import { FillPatterns, TimeAxis } from "../charts/Axes.tsx";
import { ChangeMarks } from "../charts/ChangeMarks.tsx";
import type { ChangeMark } from "../charts/changes.ts";
import { linear, type Scale, timeTicks } from "../charts/scales.ts";
import { pathPoint } from "../charts/stack.ts";
import { formatTime } from "../format/dates.ts";
import { visible } from "../format/text.ts";
import { stepAt, type TimeGrid, timeScale } from "./series/axis.ts";
import type { ChartData } from "./series/charts.ts";
import { type Line, segmentsOf, type Value } from "./series/lines.ts";
import { axisOf, type Unit, valueText } from "./series/units.ts";

export const LEFT = 64;
export const RIGHT_MARGIN = 6;
const HEIGHT = 128;
const TOP = 6;
const BOTTOM = HEIGHT - 26;

/** The cursor of all charts: the beginning of a step, or null. */
export interface Cursor {
  at: number | null;
  point: (at: number | null) => void;
}

export interface TimeSpan {
  from: number;
  to: number;
}

interface ChartProps {
  chart: ChartData;
  time: TimeGrid;
  width: number;
  noDataSpans: TimeSpan[];
  /** The run that the charts are about; marked if the time is longer. */
  run?: TimeSpan | undefined;
  /** Changes of settings within the time. */
  marks?: readonly ChangeMark[];
  cursor: Cursor;
}

export function Chart({ chart, time, width, noDataSpans, run, marks = [], cursor }: ChartProps) {
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = timeScale(time, LEFT, right);
  const { low, high, ticks } = axisOf(lowest(chart), highest(chart), chart.unit, chart.limit);
  const y = linear([low, high], [BOTTOM, TOP]);
  const lines = useMemo(
    () =>
      chart.lines.map((line, index) => <ChartLine key={line.name} line={line} tone={index} time={time} x={x} y={y} />),
    [chart, time, width],
  );
  const handlers = cursorHandlers(time, cursor, LEFT, right);
  const at = cursor.at === null ? null : x(cursor.at + time.step / 2);
  const last = time.first + (time.steps - 1) * time.step;
  return (
    <svg
      width={width}
      height={HEIGHT}
      tabIndex={0}
      role="slider"
      aria-label={`${chart.title}: point in time; arrow keys move it`}
      aria-valuemin={0}
      aria-valuemax={time.steps - 1}
      aria-valuenow={Math.round(((cursor.at ?? last) - time.first) / time.step)}
      aria-valuetext={chartText(chart, cursor.at, time)}
      {...handlers}
    >
      <FillPatterns name="telemetry" />
      <TimeAxis
        ticks={timeTicks(time.from, time.to, width / 84)}
        x={x}
        top={TOP}
        bottom={BOTTOM}
        left={LEFT}
        right={width}
      />
      <ValueAxis ticks={ticks} unit={chart.unit} y={y} right={right} />
      {noDataSpans.map((noDataSpan) => (
        <NoDataSpan key={noDataSpan.from} {...noDataSpan} x={(at) => x(Math.max(time.from, at))} />
      ))}
      {run && <rect class="run-span" x={x(run.from)} width={x(run.to) - x(run.from)} y={TOP} height={BOTTOM - TOP} />}
      {lines}
      {chart.limit !== null && <line class="limit" x1={LEFT} x2={right} y1={y(chart.limit)} y2={y(chart.limit)} />}
      <ChangeMarks marks={marks} from={time.from} to={time.to} x={x} top={TOP} bottom={BOTTOM} />
      {at !== null && <CursorLine at={at} top={TOP} bottom={BOTTOM} />}
    </svg>
  );
}

interface AxisProps {
  ticks: number[];
  unit: Unit;
  y: Scale;
  right: number;
}

function ValueAxis({ ticks, unit, y, right }: AxisProps) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class={tick ? "grid" : "base"} x1={LEFT} x2={right} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 6} y={y(tick)} dy="0.32em" text-anchor="end">
            {tick ? valueText(tick, unit) : "0"}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Hatched. */
function NoDataSpan({ from, to, x }: { from: number; to: number; x: Scale }) {
  const width = x(to) - x(from);
  if (width <= 0) return null;
  return <rect class="silence" data-testid="silence" x={x(from)} width={width} y={TOP} height={BOTTOM - TOP} />;
}

export function CursorLine({ at, top = 0, bottom }: { at: number; top?: number; bottom: number }) {
  return <line class="cursor" x1={at} x2={at} y1={top} y2={bottom} />;
}

/** Event handlers that move the cursor from step to step, by pointer and keys. */
export function cursorHandlers(time: TimeGrid, { at, point }: Cursor, left: number, right: number) {
  const onPointer = (event: PointerEvent) => {
    point(stepAt(time, time.from + ((event.offsetX - left) / (right - left)) * (time.to - time.from)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = time.first + (time.steps - 1) * time.step;
    const here = at ?? last;
    const moves: Record<string, number> = {
      ArrowLeft: here - (at === null ? 0 : time.step),
      ArrowRight: here + time.step,
      PageUp: here - 10 * time.step,
      PageDown: here + 10 * time.step,
      Home: time.first,
      End: last,
    };
    const next = moves[event.key];
    if (next !== undefined) point(stepAt(time, next));
    else if (event.key === "Escape" && at !== null) point(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    onPointerMove: onPointer,
    onPointerDown: onPointer,
    onPointerLeave: () => point(null),
    onBlur: () => point(null),
    onKeyDown,
  };
}

interface ChartLineProps {
  line: Line;
  tone: number;
  time: TimeGrid;
  x: Scale;
  y: Scale;
}

/** A value is in the middle of its step; a single value fills its step. */
function ChartLine({ line, tone, time: { from, to, step }, x, y }: ChartLineProps) {
  const within = (at: number) => x(Math.max(from, Math.min(to, at)));
  const shown = line.values.filter(({ at }) => at + step > from && at < to);
  const segments = segmentsOf(shown, line.reach).map((segment) => {
    const [only] = segment;
    return only && segment.length === 1
      ? [plotted(only, within(only.at)), plotted(only, within(only.at + step))]
      : segment.map((value) => plotted(value, within(value.at + step / 2)));
  });
  return (
    <g data-line={line.name} data-tone={tone}>
      <path class="band" d={segments.map((segment) => bandOf(segment, y)).join("")} />
      <path class="mean" d={segments.map((segment) => meanOf(segment, y)).join("")} />
    </g>
  );
}

interface PlottedValue extends Value {
  x: number;
}

function plotted(value: Value, x: number): PlottedValue {
  return { ...value, x };
}

function meanOf(segment: PlottedValue[], y: Scale): string {
  return `M${segment.map(({ x, mean }) => pathPoint(x, y(mean))).join("L")}`;
}

function bandOf(segment: PlottedValue[], y: Scale): string {
  const upper = segment.map(({ x, max }) => pathPoint(x, y(max)));
  const lower = segment.map(({ x, min }) => pathPoint(x, y(min))).reverse();
  return `M${upper.join("L")}L${lower.join("L")}Z`;
}

function highest({ lines }: ChartData): number {
  return lines.reduce((most, { values }) => values.reduce((top, { max }) => Math.max(top, max), most), 0);
}

/** The lowest value below 0; 0 if there is none. */
function lowest({ lines }: ChartData): number {
  return lines.reduce((least, { values }) => values.reduce((low, { min }) => Math.min(low, min), least), 0);
}

/** The value of a step; with null the last value. */
export function valueAt({ values }: Line, at: number | null): Value | null {
  return (at === null ? values.at(-1) : values.find((value) => value.at === at)) ?? null;
}

function chartText(chart: ChartData, at: number | null, { first, step, steps }: TimeGrid): string {
  const time = formatTime(at ?? first + (steps - 1) * step);
  const parts = chart.lines.map((line) => {
    const value = valueAt(line, at);
    return `${visible(line.name)} ${value ? spreadText(value, chart.unit) : "no data"}`;
  });
  return `${at === null ? "Latest" : time}: ${parts.join("; ")}`;
}

/** "37.2%, from 12% to 88%". */
function spreadText(value: Value, unit: Unit): string {
  const between = rangeText(value, unit);
  return valueText(value.mean, unit) + (between && `, from ${between}`);
}

/** "12% to 88%"; "" if both are the same. */
export function rangeText({ min, max }: Value, unit: Unit): string {
  const [low, high] = [valueText(min, unit), valueText(max, unit)];
  return low === high ? "" : `${low} to ${high}`;
}
