// A map with a row for each of many devices, such as cores or GPUs: darker means higher.

import { useMemo } from "preact/hooks";
import { visible } from "../format/text.ts";
import { CursorLine, cursorHandlers, LEFT, RIGHT_MARGIN } from "./Chart.tsx";
import type { ChartLayout } from "./Charts.tsx";
import { timeScale } from "./series/axis.ts";
import type { Value } from "./series/lines.ts";

export interface Row {
  name: string;
  values: Value[];
}

interface RowMapProps extends ChartLayout {
  rows: Row[];
  /** The values of the lightest and the darkest level. */
  range: [number, number];
  /** What the rows show, at the cursor or at last. */
  label: string;
}

const LEVELS = 5;
const MAX_MAP_HEIGHT = 320;
const MAX_ROW_HEIGHT = 12;
/** The lowest row with room for its name. */
const MIN_NAMED_HEIGHT = 10;

export function RowMap({ rows, range, label, time, width, cursor }: RowMapProps) {
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = timeScale(time, LEFT, right);
  const row = Math.max(2, Math.min(MAX_ROW_HEIGHT, Math.floor(MAX_MAP_HEIGHT / rows.length)));
  const height = rows.length * row;
  const within = (at: number) => x(Math.max(time.from, Math.min(time.to, at)));
  const paths = useMemo(() => levelsOf(rows, range, within, row, time.step), [rows, ...range, time, width]);
  const { onPointerMove, onPointerLeave } = cursorHandlers(time, cursor, LEFT, right);
  const at = cursor.at === null ? null : x(cursor.at + time.step / 2);
  return (
    <svg
      class="row-map"
      width={width}
      height={height}
      role="img"
      aria-label={label}
      onPointerMove={onPointerMove}
      onPointerLeave={onPointerLeave}
    >
      {paths.map((path, level) => (
        <path key={level} class="core" data-level={level} d={path} />
      ))}
      {row >= MIN_NAMED_HEIGHT &&
        rows.map(({ name }, index) => (
          <text key={name} x={LEFT - 6} y={(index + 0.5) * row} dy="0.32em" text-anchor="end">
            {visible(name)}
          </text>
        ))}
      {at !== null && <CursorLine at={at} bottom={height} />}
    </svg>
  );
}

/** The rows with the highest and the lowest value of a step, or at last; null without data. */
export function extremeRows(rows: Row[], at: number | null): { highest: RowValue; lowest: RowValue } | null {
  const shown = rows.flatMap(({ name, values }) => {
    const value = at === null ? values.at(-1) : values.find((each) => each.at === at);
    return value ? [{ name, mean: value.mean }] : [];
  });
  const [first] = shown;
  if (!first) return null;
  const highest = shown.reduce((most, each) => (each.mean > most.mean ? each : most), first);
  const lowest = shown.reduce((least, each) => (each.mean < least.mean ? each : least), first);
  return { highest, lowest };
}

export interface RowValue {
  name: string;
  mean: number;
}

/** A path for each level, with a cell for each step of a row at that level. */
function levelsOf(
  rows: Row[],
  [low, high]: [number, number],
  x: (at: number) => number,
  height: number,
  step: number,
): string[] {
  const paths = Array.from({ length: LEVELS }, () => "");
  rows.forEach(({ values }, index) => {
    for (const { at, mean } of values) {
      const level = Math.max(0, Math.min(LEVELS - 1, Math.floor(((mean - low) / (high - low)) * LEVELS)));
      const left = x(at);
      const width = Math.max(0, x(at + step) - left);
      paths[level] += `M${left.toFixed(1)},${index * height}h${width.toFixed(1)}v${height - 1}h${(-width).toFixed(1)}z`;
    }
  });
  return paths;
}
