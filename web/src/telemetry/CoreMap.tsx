// The usage of each core of a node, in a row each. Requested when the user opens it, as there may be a hundred cores.

import { useMemo, useState } from "preact/hooks";
import { usePolled } from "../api/usePolled.ts";
import { plural } from "../format/numbers.ts";
import { FailureText } from "../ui/page/ErrorNotice.tsx";
import { Loading } from "../ui/page/PolledContents.tsx";
import { CursorLine, cursorHandlers, LEFT, RIGHT_MARGIN } from "./Chart.tsx";
import type { ChartLayout } from "./Charts.tsx";
import { timeScale } from "./series/axis.ts";
import { CORE_ATTRIBUTE, compareNaturally, seriesSetOf } from "./series/charts.ts";
import type { Value } from "./series/lines.ts";
import type { Telemetry } from "./series/model.ts";
import { busyOf } from "./series/selection.ts";
import { valueText } from "./series/units.ts";

interface Core {
  name: string;
  values: Value[];
}

interface MapProps extends ChartLayout {
  path: string;
  queryKey: string;
  intervalMs: number;
}

const LEVELS = 5;
const MAX_ROW_HEIGHT = 10;
const MAX_MAP_HEIGHT = 320;

export function CoreMap(props: MapProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="cores" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>By core</summary>
      {open && <Cores {...props} />}
    </details>
  );
}

function Cores({ path, queryKey, intervalMs, ...layout }: MapProps) {
  const { value, failure } = usePolled<Telemetry>({ path, queryKey, intervalMs });
  const cores = useMemo(() => (value ? coresOf(value) : []), [value]);
  if (failure && !value) {
    return (
      <p class="nothing">
        <FailureText failure={failure} />
      </p>
    );
  }
  if (!value) return <Loading />;
  if (!cores.length) return <p class="nothing">The node's agent reports only the total of all cores.</p>;
  return <CoreGrid cores={cores} {...layout} />;
}

function CoreGrid({ cores, time, width, cursor }: ChartLayout & { cores: Core[] }) {
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = timeScale(time, LEFT, right);
  const row = Math.max(2, Math.min(MAX_ROW_HEIGHT, Math.floor(MAX_MAP_HEIGHT / cores.length)));
  const height = cores.length * row;
  const within = (at: number) => x(Math.max(time.from, Math.min(time.to, at)));
  const paths = useMemo(() => levelsOf(cores, within, row, time.step), [cores, time, width]);
  const { onPointerMove, onPointerLeave } = cursorHandlers(time, cursor, LEFT, right);
  const at = cursor.at === null ? null : x(cursor.at + time.step / 2);
  return (
    <>
      <p class="values" data-testid="cores">
        {extremesText(cores, cursor.at)} Darker means busier.
      </p>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${plural(cores.length, "core")}: ${extremesText(cores, null)}`}
        onPointerMove={onPointerMove}
        onPointerLeave={onPointerLeave}
      >
        {paths.map((path, level) => (
          <path key={level} class="core" data-level={level} d={path} />
        ))}
        {at !== null && <CursorLine at={at} bottom={height} />}
      </svg>
    </>
  );
}

function coresOf(telemetry: Telemetry): Core[] {
  const set = seriesSetOf(telemetry);
  const single = set.series.filter(
    ({ attributes }) => attributes[CORE_ATTRIBUTE] && !("batchscope.source" in attributes),
  );
  return single
    .map((series) => ({
      name: series.attributes[CORE_ATTRIBUTE] ?? "",
      values: busyOf(set, "", [series])?.values ?? [],
    }))
    .sort((one, other) => compareNaturally(one.name, other.name));
}

/** A path for each level of usage, with a cell for each step of a core at that level. */
function levelsOf(cores: Core[], x: (at: number) => number, row: number, step: number): string[] {
  const paths = Array.from({ length: LEVELS }, () => "");
  cores.forEach(({ values }, index) => {
    for (const { at, mean } of values) {
      const level = Math.max(0, Math.min(LEVELS - 1, Math.floor(mean * LEVELS)));
      const left = x(at);
      const width = Math.max(0, x(at + step) - left);
      paths[level] += `M${left.toFixed(1)},${index * row}h${width.toFixed(1)}v${row - 1}h${(-width).toFixed(1)}z`;
    }
  });
  return paths;
}

/** "Busiest: core 3 (98%); least busy: core 7 (2%)." */
function extremesText(cores: Core[], at: number | null): string {
  const shares = cores.flatMap(({ name, values }) => {
    const value = at === null ? values.at(-1) : values.find((each) => each.at === at);
    return value ? [{ name, mean: value.mean }] : [];
  });
  const [first] = shares;
  if (!first) return "No data.";
  const busiest = shares.reduce((most, each) => (each.mean > most.mean ? each : most), first);
  const idlest = shares.reduce((least, each) => (each.mean < least.mean ? each : least), first);
  const label = (each: typeof first) => `core ${each.name} (${valueText(each.mean, "share")})`;
  return `Busiest: ${label(busiest)}; least busy: ${label(idlest)}.`;
}
