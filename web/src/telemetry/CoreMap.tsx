// The usage of each core of a node, in a row each. Requested when the user opens it, as there may be a hundred cores.

import { useMemo, useState } from "preact/hooks";
import { usePolled } from "../api/usePolled.ts";
import { plural } from "../format/numbers.ts";
import { FailureText } from "../ui/page/ErrorNotice.tsx";
import { Loading } from "../ui/page/PolledContents.tsx";
import type { ChartLayout } from "./Charts.tsx";
import { extremeRows, type Row, RowMap, type RowValue } from "./RowMap.tsx";
import { CORE_ATTRIBUTE, compareNaturally, seriesSetOf } from "./series/charts.ts";
import type { Telemetry } from "./series/model.ts";
import { busyOf } from "./series/selection.ts";
import { valueText } from "./series/units.ts";

interface MapProps extends ChartLayout {
  path: string;
  queryKey: string;
  intervalMs: number;
}

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

function CoreGrid({ cores, ...layout }: ChartLayout & { cores: Row[] }) {
  const label = `${plural(cores.length, "core")}: ${extremesText(cores, null)}`;
  return (
    <>
      <p class="values" data-testid="cores">
        {extremesText(cores, layout.cursor.at)} Darker means busier.
      </p>
      <RowMap rows={cores} range={[0, 1]} label={label} {...layout} />
    </>
  );
}

function coresOf(telemetry: Telemetry): Row[] {
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

/** "Busiest: core 3 (98%); least busy: core 7 (2%)." */
function extremesText(cores: Row[], at: number | null): string {
  const found = extremeRows(cores, at);
  const text = ({ name, mean }: RowValue) => `core ${name} (${valueText(mean, "share")})`;
  return found ? `Busiest: ${text(found.highest)}; least busy: ${text(found.lowest)}.` : "No data.";
}
