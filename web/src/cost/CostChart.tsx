// The costs by day as stacked bars. What isn't known is hatched: time that nobody watched on top of a bar, days without
// stored usage in full height, and time without a price, which has no height in money, below the axis.

import { CountAxis, FillPatterns, TimeLabels } from "../charts/Axes.tsx";
import { cursorProps } from "../charts/chartCursor.ts";
import { countTicks, linear, type Scale } from "../charts/scales.ts";
import { useWidth } from "../charts/useWidth.ts";
import { blocksOf, type CostBars, dayTicks, isStriped, maxOf } from "./amounts/bars.ts";
import { formatMoneyTick, type Micros } from "./amounts/money.ts";
import { dayReadout } from "./amounts/texts.ts";

const HEIGHT = 260;
const TOP = 10;
const BOTTOM = HEIGHT - 40;
const LEFT = 66;
const RIGHT_MARGIN = 6;
const LABEL_WIDTH = 64;
const GAP_SHARE = 0.18; // between bars
const STRIP = { top: BOTTOM + 4, height: 7 };

interface ChartProps {
  bars: CostBars;
  currency: string;
  /** The account's budget for a day. */
  budget: Micros | null;
  cursor: number | null;
  point: (index: number | null) => void;
}

export function CostChart({ bars, currency, budget, cursor, point }: ChartProps) {
  const { ref, width } = useWidth();
  const { days, parts } = bars;
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = linear([0, days.length], [LEFT, right]);
  const most = Math.max(maxOf(bars), budget ?? 0);
  const ticks = most ? countTicks(most, 4) : [0];
  const y = linear([0, ticks.at(-1) || 1], [BOTTOM, TOP]);
  const last = days.length - 1;
  const stepAt = (offsetX: number) => Math.floor(((offsetX - LEFT) / (right - LEFT)) * days.length);
  const focused = days[cursor ?? last];
  return (
    <div class="chart cost-chart" ref={ref}>
      <svg
        width={width}
        height={HEIGHT}
        aria-label="Day; arrow keys move it"
        aria-valuetext={focused ? dayReadout(focused, parts, cursor ?? last, currency) : ""}
        {...cursorProps({ cursor, first: 0, last, page: 7, point, stepAt })}
      >
        <FillPatterns name="history" />
        <CostPatterns />
        <CountAxis ticks={ticks} y={y} left={LEFT} right={right} format={(tick) => formatMoneyTick(tick, currency)} />
        <g transform={`translate(0, ${BOTTOM + 14})`} aria-hidden="true">
          <TimeLabels ticks={dayTicks(days, (right - LEFT) / LABEL_WIDTH)} x={(index) => x(index + 0.5)} left={0} right={width} />
        </g>
        {cursor !== null && <rect class="cost-cursor" x={x(cursor)} width={x(1) - x(0)} y={TOP} height={BOTTOM - TOP} />}
        {days.map((day, index) => (
          <Bar key={day.date} bars={bars} index={index} x={x} y={y} />
        ))}
        {budget !== null && <line class="cost-budget" x1={LEFT} x2={right} y1={y(budget)} y2={y(budget)} />}
      </svg>
    </div>
  );
}

interface BarProps {
  bars: CostBars;
  index: number;
  x: Scale;
  y: Scale;
}

function Bar({ bars: { days, parts }, index, x, y }: BarProps) {
  const day = days[index];
  if (!day) return null;
  const width = Math.max(1, (x(1) - x(0)) * (1 - GAP_SHARE));
  const left = x(index + 0.5) - width / 2;
  const rectOf = (from: number, to: number) => ({ x: left, width, y: y(to), height: Math.max(0, y(from) - y(to)) });
  const total = day.total ?? 0;
  return (
    <g data-day={day.date}>
      {day.total === null && (
        <rect class={day.isMissing ? "gap" : "cost-no-price whole"} data-testid="gap" x={left} width={width} y={TOP} height={BOTTOM - TOP} />
      )}
      {blocksOf(parts, index).map(({ part, from, to }) => (
        <g key={`${part.fill} ${part.label}`}>
          <rect class="cost-block" data-cost-fill={part.fill} {...rectOf(from, to)} />
          {isStriped(part.fill) && <rect class="cost-stripes" {...rectOf(from, to)} />}
        </g>
      ))}
      {day.uncertain > 0 && <rect class="cost-uncertain" {...rectOf(total, total + day.uncertain)} />}
      {day.unpricedSeconds > 0 && <rect class="cost-no-price" x={left} width={width} y={STRIP.top} height={STRIP.height} />}
    </g>
  );
}

/** Patterns over and instead of colours. */
function CostPatterns() {
  return (
    <defs>
      {["stripes", "uncertain", "no-price"].map((name) => (
        <pattern key={name} id={`cost-${name}`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class={`cost-line-${name}`} width="2" height="6" />
        </pattern>
      ))}
    </defs>
  );
}
