// One chart of a node: means as lines within bands from the lowest to the highest value; where nothing came, nothing is.

import { useMemo } from "preact/hooks";
import { Fills, TimeAxis } from "../charts/Axes.tsx";
import { linear, type Scale, timeTicks } from "../charts/scales.ts";
import { place } from "../charts/stack.ts";
import { moment } from "../format/dates.ts";
import { visible } from "../format/text.ts";
import { placesOf, stepAt, type Time } from "./series/axis.ts";
import type { Chart as Charted } from "./series/charts.ts";
import { type Line, stretchesOf, type Value } from "./series/lines.ts";
import { measured, ticksOf, type Unit } from "./series/units.ts";

export const LEFT = 64;
export const RIGHT_MARGIN = 6;
const HEIGHT = 128;
const TOP = 6;
const BOTTOM = HEIGHT - 26;

/** What is pointed at, in all charts at once: the beginning of a step, or nothing. */
export interface Cursor {
  at: number | null;
  point: (at: number | null) => void;
}

export interface Span {
  from: number;
  to: number;
}

interface ChartProps {
  chart: Charted;
  time: Time;
  width: number;
  silences: Span[];
  /** Marked, where the time is longer than what it is about. */
  run?: Span | undefined;
  cursor: Cursor;
}

export function Chart({ chart, time, width, silences, run, cursor }: ChartProps) {
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = placesOf(time, LEFT, right);
  const ticks = ticksOf(highest(chart), chart.unit, 2, chart.limit);
  const y = linear([0, ticks.at(-1) ?? 1], [BOTTOM, TOP]);
  const drawn = useMemo(
    () => chart.lines.map((line, index) => <Drawn key={line.name} line={line} tone={index} time={time} x={x} y={y} />),
    [chart, time, width],
  );
  const handlers = steering(time, cursor, LEFT, right);
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
      aria-valuetext={spoken(chart, cursor.at, time)}
      {...handlers}
    >
      <Fills name="telemetry" />
      <TimeAxis ticks={timeTicks(time.from, time.to, width / 84)} x={x} top={TOP} bottom={BOTTOM} left={LEFT} right={width} />
      <ValueAxis ticks={ticks} unit={chart.unit} y={y} right={right} />
      {silences.map((silence) => (
        <Silence key={silence.from} {...silence} x={(at) => x(Math.max(time.from, at))} />
      ))}
      {run && <rect class="run-span" x={x(run.from)} width={x(run.to) - x(run.from)} y={TOP} height={BOTTOM - TOP} />}
      {drawn}
      {chart.limit !== null && <line class="limit" x1={LEFT} x2={right} y1={y(chart.limit)} y2={y(chart.limit)} />}
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
            {tick ? measured(tick, unit) : "0"}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Hatched, while nothing came. */
function Silence({ from, to, x }: { from: number; to: number; x: Scale }) {
  const width = x(to) - x(from);
  if (width <= 0) return null;
  return <rect class="silence" data-testid="silence" x={x(from)} width={width} y={TOP} height={BOTTOM - TOP} />;
}

export function CursorLine({ at, top = 0, bottom }: { at: number; top?: number; bottom: number }) {
  return <line class="cursor" x1={at} x2={at} y1={top} y2={bottom} />;
}

/** Follows the pointer and the arrow keys, from step to step. */
export function steering(time: Time, { at, point }: Cursor, left: number, right: number) {
  const follow = (event: PointerEvent) => {
    point(stepAt(time, time.from + ((event.offsetX - left) / (right - left)) * (time.to - time.from)));
  };
  const press = (event: KeyboardEvent) => {
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
    onPointerMove: follow,
    onPointerDown: follow,
    onPointerLeave: () => point(null),
    onBlur: () => point(null),
    onKeyDown: press,
  };
}

interface DrawnProps {
  line: Line;
  tone: number;
  time: Time;
  x: Scale;
  y: Scale;
}

/** Each value stands in the middle of its step; one that stands alone fills it. */
function Drawn({ line, tone, time: { from, to, step }, x, y }: DrawnProps) {
  const within = (at: number) => x(Math.max(from, Math.min(to, at)));
  const shown = line.values.filter(({ at }) => at + step > from && at < to);
  const stretches = stretchesOf(shown, line.reach).map((stretch) => {
    const [only] = stretch;
    return only && stretch.length === 1
      ? [placed(only, within(only.at)), placed(only, within(only.at + step))]
      : stretch.map((value) => placed(value, within(value.at + step / 2)));
  });
  return (
    <g data-line={line.name} data-tone={tone}>
      <path class="band" d={stretches.map((stretch) => bandOf(stretch, y)).join("")} />
      <path class="mean" d={stretches.map((stretch) => meanOf(stretch, y)).join("")} />
    </g>
  );
}

interface Placed extends Value {
  x: number;
}

function placed(value: Value, x: number): Placed {
  return { ...value, x };
}

function meanOf(stretch: Placed[], y: Scale): string {
  return `M${stretch.map(({ x, mean }) => place(x, y(mean))).join("L")}`;
}

function bandOf(stretch: Placed[], y: Scale): string {
  const upper = stretch.map(({ x, max }) => place(x, y(max)));
  const lower = stretch.map(({ x, min }) => place(x, y(min))).reverse();
  return `M${upper.join("L")}L${lower.join("L")}Z`;
}

function highest({ lines }: Charted): number {
  return lines.reduce((most, { values }) => values.reduce((top, { max }) => Math.max(top, max), most), 0);
}

/** The value of a step, or of the last step that has one. */
export function valueAt({ values }: Line, at: number | null): Value | null {
  return (at === null ? values.at(-1) : values.find((value) => value.at === at)) ?? null;
}

function spoken(chart: Charted, at: number | null, { first, step, steps }: Time): string {
  const time = moment(at ?? first + (steps - 1) * step);
  const told = chart.lines.map((line) => {
    const value = valueAt(line, at);
    return `${visible(line.name)} ${value ? spread(value, chart.unit) : "no data"}`;
  });
  return `${at === null ? "Latest" : time}: ${told.join("; ")}`;
}

/** "37.2%, from 12% to 88%". */
function spread(value: Value, unit: Unit): string {
  const between = betweenOf(value, unit);
  return measured(value.mean, unit) + (between && `, from ${between}`);
}

/** "12% to 88%"; "" where all were the same. */
export function betweenOf({ min, max }: Value, unit: Unit): string {
  const [low, high] = [measured(min, unit), measured(max, unit)];
  return low === high ? "" : `${low} to ${high}`;
}
