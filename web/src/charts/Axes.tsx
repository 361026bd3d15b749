// The axes of a chart: counts at the left, times below.

import { formatCompact } from "../format/numbers.ts";
import type { Scale, Tick } from "./scales.ts";

interface CountAxisProps {
  ticks: number[];
  y: Scale;
  left: number;
  right: number;
  /** The text of a tick, by default its number in a short form. */
  format?: (tick: number) => string;
}

export function CountAxis({ ticks, y, left, right, format = formatCompact }: CountAxisProps) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class={tick ? "grid" : "base"} x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text x={left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
    </g>
  );
}

interface TimeAxisProps {
  ticks: Tick[];
  x: Scale;
  top: number;
  bottom: number;
  /** Limits for labels. */
  left: number;
  right: number;
}

/** Half the width of a character in a label, in pixels. */
const HALF_CHARACTER = 3.6;

export function TimeAxis({ ticks, x, top, bottom, left, right }: TimeAxisProps) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map(({ at, label, strong }) => (
        <g key={at} class={strong ? "strong" : ""}>
          <line class="grid" x1={x(at)} x2={x(at)} y1={top} y2={bottom} />
          {hasRoom(label, x(at), left, right) && (
            <text x={x(at)} y={bottom + 20} text-anchor="middle">
              {label}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

/** Labels without lines, for charts that render the lines themselves. */
export function TimeLabels({ ticks, x, left, right }: Pick<TimeAxisProps, "ticks" | "x" | "left" | "right">) {
  return (
    <g class="axis">
      {ticks
        .filter(({ at, label }) => hasRoom(label, x(at), left, right))
        .map(({ at, label, strong }) => (
          <text key={at} class={strong ? "strong" : ""} x={x(at)} y={16} text-anchor="middle">
            {label}
          </text>
        ))}
    </g>
  );
}

function hasRoom(label: string, position: number, left: number, right: number): boolean {
  const half = label.length * HALF_CHARACTER;
  return position >= left + half && position <= right - half;
}

/** Fills that differ by more than their hue. `name` is the prefix of their ids. */
export function FillPatterns({ name }: { name: string }) {
  return (
    <defs>
      <pattern id={`${name}-failed`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="fill-failed" width="5" height="5" />
        <rect class="stripe-failed" width="2" height="5" />
      </pattern>
      <pattern id={`${name}-gap`} width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="stripe-gap" width="1.5" height="7" />
      </pattern>
    </defs>
  );
}
