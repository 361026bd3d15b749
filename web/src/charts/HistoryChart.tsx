// A chart of numbers by state over time, stacked. Gaps are hatched, never zero; inexact counts are marked below.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CountAxis, FillPatterns, TimeAxis } from "./Axes.tsx";
import { cursorProps } from "./chartCursor.ts";
import { countTicks, linear, type Scale, timeTicks } from "./scales.ts";
import {
  clippedFrom,
  domainOf,
  inexactSpansOf,
  layersOf,
  maxTotal,
  type Series,
  segmentsOf,
  startOf,
  stepped,
} from "./stack.ts";
import { useWidth } from "./useWidth.ts";

const HEIGHT = 260;
const TOP = 10;
const BOTTOM = HEIGHT - 30;
const LEFT = 52;
const RIGHT_MARGIN = 6;

interface ChartProps<State extends string> {
  history: Series<State>;
  /** The shown states, the first at the bottom. Names of layers are `layerPrefix` and the state. */
  states: readonly State[];
  layerPrefix?: string;
  /** Whether each point holds for its whole step, as means do. */
  isStepped: boolean;
  /** The creation of the history's subject, in milliseconds since 1970. */
  created: number;
  cursor: number | null;
  point: (index: number | null) => void;
  /** The text about the cursor's point, for screen readers. */
  cursorText: string;
  /** Renders contents above the states, up to the value `overlayHeight`. */
  overlay?: ((x: Scale, y: Scale) => ComponentChildren) | undefined;
  overlayHeight?: number;
}

export function HistoryChart<State extends string>({
  history,
  states,
  layerPrefix = "",
  isStepped,
  created,
  cursor,
  point,
  cursorText,
  overlay,
  overlayHeight = 0,
}: ChartProps<State>) {
  const { ref, width } = useWidth();
  const all = useMemo(() => segmentsOf(history), [history]);
  const start = startOf(all, created);
  const segments = useMemo(() => clippedFrom(all, start), [all, start]);
  const [from, to] = domainOf(history, start);
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = linear([from, to], [LEFT, right]);
  const ticks = countTicks(Math.max(maxTotal(segments, states), overlayHeight), 4);
  const y = linear([0, ticks.at(-1) ?? 1], [BOTTOM, TOP]);
  const last = history.value.length - 1;
  const first = Math.max(0, history.value.findIndex(({ time }) => Date.parse(time) > from));
  const stepAt = (offsetX: number) => {
    const moment = from + ((offsetX - LEFT) / (right - LEFT)) * (to - from);
    const next = history.value.findIndex(({ time }) => Date.parse(time) >= moment);
    return next < 0 ? last : next;
  };
  const at = cursor === null ? null : Date.parse(history.value[cursor]?.time ?? "");
  return (
    <div class="chart" ref={ref}>
      <svg
        width={width}
        height={HEIGHT}
        aria-label="Point in time; arrow keys move it"
        aria-valuetext={cursorText}
        {...cursorProps({ cursor, first, last, page: 10, point, stepAt })}
      >
        <FillPatterns name="history" />
        <TimeAxis
          ticks={timeTicks(from, to, width / 84)}
          x={x}
          top={TOP}
          bottom={BOTTOM}
          left={0}
          right={width}
        />
        <CountAxis ticks={ticks} y={y} left={LEFT} right={right} />
        {segments.map((segment) =>
          segment.points.length ? (
            <g key={segment.from} class="known" data-points={segment.points.length}>
              {layersOf(isStepped ? stepped(segment) : segment, states, x, y).map(({ state, path }) => (
                <path key={state} d={path} data-layer={layerPrefix + state} />
              ))}
            </g>
          ) : (
            <Gap key={segment.from} from={x(segment.from)} to={x(segment.to)} />
          ),
        )}
        {overlay?.(x, y)}
        {inexactSpansOf(segments).map((span) => (
          <line key={span.from} class="doubt" x1={x(span.from)} x2={x(span.to)} y1={BOTTOM + 3} y2={BOTTOM + 3} />
        ))}
        {created > from && created < to && <line class="born" x1={x(created)} x2={x(created)} y1={TOP} y2={BOTTOM} />}
        {at !== null && <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={BOTTOM} />}
      </svg>
    </div>
  );
}

/** Hatched: a time without polls. */
function Gap({ from, to }: { from: number; to: number }) {
  if (to - from < 0.5) return null;
  return <rect class="gap" data-testid="gap" x={from} width={to - from} y={TOP} height={BOTTOM - TOP} />;
}
