// Used shares of groups by week as lines, and below them what was wasted as stacked bars, with one cursor.

import { CountAxis, TimeLabels } from "../../charts/Axes.tsx";
import { cursorProps } from "../../charts/chartCursor.ts";
import { countTicks, linear, type Scale } from "../../charts/scales.ts";
import { useWidth } from "../../charts/useWidth.ts";
import { isStriped } from "../amounts/bars.ts";
import { dayText } from "../amounts/days.ts";
import { formatMoneyTick } from "../amounts/money.ts";
import { latestWeek, maxWasted, type WeekGroup, type WeeklyEfficiency, weekReadout } from "./weeks.ts";

const HEIGHT = 300;
const SHARES = { top: 12, bottom: 142 };
const WASTE = { top: 172, bottom: 262 };
const LEFT = 66;
const RIGHT_MARGIN = 6;
const LABEL_WIDTH = 64;
const GAP_SHARE = 0.3; // between bars
const SHARE_TICKS = [0, 0.5, 1];

interface ChartProps {
  weekly: WeeklyEfficiency;
  currency: string;
  cursor: number | null;
  point: (index: number | null) => void;
}

export function WeekChart({ weekly, currency, cursor, point }: ChartProps) {
  const { ref, width } = useWidth();
  const { weeks, groups } = weekly;
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = linear([0, weeks.length], [LEFT, right]);
  const most = maxWasted(weekly);
  const ticks = most ? countTicks(most, 3) : [0];
  const y = linear([0, ticks.at(-1) || 1], [WASTE.bottom, WASTE.top]);
  const last = weeks.length - 1;
  const stepAt = (offsetX: number) => Math.floor(((offsetX - LEFT) / (right - LEFT)) * weeks.length);
  const every = Math.max(1, Math.ceil((weeks.length * LABEL_WIDTH) / (right - LEFT)));
  const labels = weeks.flatMap(({ first }, index) =>
    (last - index) % every ? [] : [{ at: index, label: dayText(first), strong: false }],
  );
  return (
    <div class="chart cost-chart" ref={ref}>
      <svg
        width={width}
        height={HEIGHT}
        aria-label="Week; arrow keys move it"
        aria-valuetext={weekReadout(weekly, cursor ?? latestWeek(weekly), currency)}
        {...cursorProps({ cursor, first: 0, last, page: 4, point, stepAt })}
      >
        <Shares weekly={weekly} x={x} right={right} cursor={cursor} />
        <text class="week-title" x={LEFT} y={WASTE.top - 10} aria-hidden="true">
          Wasted
        </text>
        <CountAxis ticks={ticks} y={y} left={LEFT} right={right} format={(tick) => formatMoneyTick(tick, currency)} />
        {cursor !== null && (
          <rect class="cost-cursor" x={x(cursor)} width={x(1) - x(0)} y={WASTE.top} height={WASTE.bottom - WASTE.top} />
        )}
        {weeks.map(({ first }, index) => (
          <WastedBar key={first} groups={groups} index={index} x={x} y={y} />
        ))}
        <g transform={`translate(0, ${WASTE.bottom + 14})`} aria-hidden="true">
          <TimeLabels ticks={labels} x={(index) => x(index + 0.5)} left={0} right={width} />
        </g>
        <defs>
          <pattern id="week-stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="cost-line-stripes" width="2" height="6" />
          </pattern>
        </defs>
      </svg>
    </div>
  );
}

interface SharesProps {
  weekly: WeeklyEfficiency;
  x: Scale;
  right: number;
  cursor: number | null;
}

function Shares({ weekly: { groups }, x, right, cursor }: SharesProps) {
  const y = linear([0, 1], [SHARES.bottom, SHARES.top]);
  const middle = (index: number) => x(index + 0.5);
  return (
    <>
      <CountAxis ticks={SHARE_TICKS} y={y} left={LEFT} right={right} format={(tick) => `${tick * 100}%`} />
      {cursor !== null && (
        <rect class="cost-cursor" x={x(cursor)} width={x(1) - x(0)} y={SHARES.top} height={SHARES.bottom - SHARES.top} />
      )}
      {groups.map(({ label, fill, shares }) => (
        <g key={fill} class="week-line" data-cost-fill={fill} data-striped={isStriped(fill)} data-week-group={label}>
          <path d={pathOf(shares, middle, y)} />
          {shares.map((share, index) => share !== null && <circle key={middle(index)} cx={middle(index)} cy={y(share)} r={3.5} />)}
        </g>
      ))}
    </>
  );
}

/** A line through known shares, which breaks off at unknown ones. */
function pathOf(shares: readonly (number | null)[], x: Scale, y: Scale): string {
  return shares
    .flatMap((share, index) => {
      if (share === null) return [];
      const begins = (shares[index - 1] ?? null) === null;
      return [`${begins ? "M" : "L"}${x(index).toFixed(1)} ${y(share).toFixed(1)}`];
    })
    .join("");
}

interface BarProps {
  groups: readonly WeekGroup[];
  index: number;
  x: Scale;
  y: Scale;
}

function WastedBar({ groups, index, x, y }: BarProps) {
  const width = Math.max(1, (x(1) - x(0)) * (1 - GAP_SHARE));
  const left = x(index + 0.5) - width / 2;
  let to = 0;
  return (
    <>
      {groups.map(({ fill, wasted }) => {
        const from = to;
        to += wasted[index] ?? 0;
        const rect = { x: left, width, y: y(to), height: Math.max(0, y(from) - y(to)) };
        return (
          to > from && (
            <g key={fill}>
              <rect class="cost-block" data-cost-fill={fill} {...rect} />
              {isStriped(fill) && <rect class="week-stripes" {...rect} />}
            </g>
          )
        );
      })}
    </>
  );
}
