// Numbers by state over time, stacked. A gap is drawn as one, never as zero; what wasn't exact is marked below.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CountAxis, Fills, TimeAxis } from "./Axes.tsx";
import { countTicks, linear, type Scale, timeTicks } from "./scales.ts";
import { beginningOf, domainOf, doubtsOf, heightOf, layersOf, type Series, since, stretchesOf } from "./stack.ts";
import { useWidth } from "./useWidth.ts";

const HEIGHT = 260;
const TOP = 10;
const BOTTOM = HEIGHT - 30;
const LEFT = 52;
const RIGHT_MARGIN = 6;

interface ChartProps<State extends string> {
  history: Series<State>;
  /** Those that are shown, the first at the bottom; each is drawn as the layer that `kind` says before its name. */
  states: readonly State[];
  kind?: string;
  /** Before this moment there was nothing. */
  created: number;
  cursor: number | null;
  point: (index: number | null) => void;
  /** The cursor's point in words. */
  spoken: string;
  /** What is drawn above the states, and how high that reaches. */
  overlay?: (x: Scale, y: Scale) => ComponentChildren;
  overlayHeight?: number;
}

export function HistoryChart<State extends string>({
  history,
  states,
  kind = "",
  created,
  cursor,
  point,
  spoken,
  overlay,
  overlayHeight = 0,
}: ChartProps<State>) {
  const { ref, width } = useWidth();
  const all = useMemo(() => stretchesOf(history), [history]);
  const beginning = beginningOf(all, created);
  const stretches = useMemo(() => since(all, beginning), [all, beginning]);
  const [from, to] = domainOf(history, beginning);
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = linear([from, to], [LEFT, right]);
  const ticks = countTicks(Math.max(heightOf(stretches, states), overlayHeight), 4);
  const y = linear([0, ticks.at(-1) ?? 1], [BOTTOM, TOP]);
  const last = history.value.length - 1;
  const first = Math.max(0, history.value.findIndex(({ time }) => Date.parse(time) > from));
  const move = (index: number) => point(Math.max(first, Math.min(last, index)));
  const follow = (event: PointerEvent) => {
    const at = from + ((event.offsetX - LEFT) / (right - LEFT)) * (to - from);
    const next = history.value.findIndex(({ time }) => Date.parse(time) >= at);
    move(next < 0 ? last : next);
  };
  const step = (event: KeyboardEvent) => {
    const here = cursor ?? last;
    const places: Record<string, number> = {
      ArrowLeft: here - (cursor === null ? 0 : 1),
      ArrowRight: here + 1,
      PageUp: here - 10,
      PageDown: here + 10,
      Home: first,
      End: last,
    };
    const place = places[event.key];
    if (place !== undefined) move(place);
    else if (event.key === "Escape" && cursor !== null) point(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const at = cursor === null ? null : Date.parse(history.value[cursor]?.time ?? "");
  return (
    <div class="chart" ref={ref}>
      <svg
        width={width}
        height={HEIGHT}
        tabIndex={0}
        role="slider"
        aria-label="Point in time; arrow keys move it"
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={cursor ?? last}
        aria-valuetext={spoken}
        onPointerMove={follow}
        onPointerDown={follow}
        onPointerLeave={() => point(null)}
        onBlur={() => point(null)}
        onKeyDown={step}
      >
        <Fills name="history" />
        <TimeAxis
          ticks={timeTicks(from, to, width / 84)}
          x={x}
          top={TOP}
          bottom={BOTTOM}
          left={0}
          right={width}
        />
        <CountAxis ticks={ticks} y={y} left={LEFT} right={right} />
        {stretches.map((stretch) =>
          stretch.points.length ? (
            <g key={stretch.from} class="known" data-points={stretch.points.length}>
              {layersOf(stretch, states, x, y).map(({ state, path }) => (
                <path key={state} d={path} data-layer={kind + state} />
              ))}
            </g>
          ) : (
            <Gap key={stretch.from} from={x(stretch.from)} to={x(stretch.to)} />
          ),
        )}
        {overlay?.(x, y)}
        {doubtsOf(stretches).map((doubt) => (
          <line key={doubt.from} class="doubt" x1={x(doubt.from)} x2={x(doubt.to)} y1={BOTTOM + 3} y2={BOTTOM + 3} />
        ))}
        {created > from && created < to && <line class="born" x1={x(created)} x2={x(created)} y1={TOP} y2={BOTTOM} />}
        {at !== null && <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={BOTTOM} />}
      </svg>
    </div>
  );
}

/** Hatched, while nobody polled. */
function Gap({ from, to }: { from: number; to: number }) {
  if (to - from < 0.5) return null;
  return <rect class="gap" data-testid="gap" x={from} width={to - from} y={TOP} height={BOTTOM - TOP} />;
}
