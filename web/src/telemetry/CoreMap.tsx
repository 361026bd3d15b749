// How busy each core of a node was, a row each: asked for when somebody opens it, as there may be a hundred.

import { useMemo, useState } from "preact/hooks";
import { usePolled } from "../api/usePolled.ts";
import { plural } from "../format/numbers.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { CursorLine, LEFT, RIGHT_MARGIN, steering } from "./Chart.tsx";
import type { Place } from "./Charts.tsx";
import { placesOf } from "./series/axis.ts";
import { CORE, inOrder, measuresOf } from "./series/charts.ts";
import type { Value } from "./series/lines.ts";
import type { Telemetry } from "./series/model.ts";
import { busyOf } from "./series/picking.ts";
import { measured } from "./series/units.ts";

interface Core {
  name: string;
  values: Value[];
}

interface MapProps extends Place {
  path: string;
  queryKey: string;
  intervalMs: number;
}

const LEVELS = 5;
const MOST_HEIGHT = 10;
const TALL = 320;

export function CoreMap(props: MapProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="cores" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>By core</summary>
      {open && <Cores {...props} />}
    </details>
  );
}

function Cores({ path, queryKey, intervalMs, ...place }: MapProps) {
  const { value, failure } = usePolled<Telemetry>({ path, queryKey, intervalMs });
  const cores = useMemo(() => (value ? coresOf(value) : []), [value]);
  if (failure && !value) {
    const words = failure.message === null ? "The server doesn't respond." : <ExternalText text={failure.message} />;
    return <p class="nothing">{words}</p>;
  }
  if (!value) return <p class="loading" role="status">Loading…</p>;
  if (!cores.length) return <p class="nothing">The node's agent reports only the total of all cores.</p>;
  return <Drawn cores={cores} {...place} />;
}

function Drawn({ cores, time, width, cursor }: Place & { cores: Core[] }) {
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const x = placesOf(time, LEFT, right);
  const row = Math.max(2, Math.min(MOST_HEIGHT, Math.floor(TALL / cores.length)));
  const height = cores.length * row;
  const within = (at: number) => x(Math.max(time.from, Math.min(time.to, at)));
  const paths = useMemo(() => levelsOf(cores, within, row, time.step), [cores, time, width]);
  const { onPointerMove, onPointerLeave } = steering(time, cursor, LEFT, right);
  const at = cursor.at === null ? null : x(cursor.at + time.step / 2);
  return (
    <>
      <p class="values" data-testid="cores">
        {inWords(cores, cursor.at)} Darker means busier.
      </p>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${plural(cores.length, "core")}: ${inWords(cores, null)}`}
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
  const measures = measuresOf(telemetry);
  const single = measures.series.filter(({ attributes }) => attributes[CORE] && !("batchscope.source" in attributes));
  return single
    .map((series) => ({ name: series.attributes[CORE] ?? "", values: busyOf(measures, "", [series])?.values ?? [] }))
    .sort((one, other) => inOrder(one.name, other.name));
}

/** A path for each level, whose cells are the steps in which a core was so busy. */
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
function inWords(cores: Core[], at: number | null): string {
  const told = cores.flatMap(({ name, values }) => {
    const value = at === null ? values.at(-1) : values.find((each) => each.at === at);
    return value ? [{ name, mean: value.mean }] : [];
  });
  const [first] = told;
  if (!first) return "No data.";
  const busiest = told.reduce((most, each) => (each.mean > most.mean ? each : most), first);
  const idlest = told.reduce((least, each) => (each.mean < least.mean ? each : least), first);
  const words = (each: typeof first) => `core ${each.name} (${measured(each.mean, "share")})`;
  return `Busiest: ${words(busiest)}; least busy: ${words(idlest)}.`;
}
