// The choice of what colours the map of nodes: their states, or a metric.

import { useContext, useMemo } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatTime } from "../../format/dates.ts";
import { Navigation } from "../../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../../routing/poolView.ts";
import { type HeatMap, heatMapOf } from "./heat.ts";
import { METRICS, metricOf, valuesQuery } from "./metrics.ts";
import type { NodeValues } from "./model.ts";

const INTERVAL_MS = 30_000;

export function ColourSelect({ view }: { view: PoolView }) {
  const navigate = useContext(Navigation);
  return (
    <label class="colour">
      Colour by{" "}
      <select
        name="colour"
        value={metricOf(view.colour)?.id ?? ""}
        onChange={(event) => navigate(addressOfPoolView({ ...view, colour: event.currentTarget.value }), "replace")}
      >
        <option value="">state</option>
        {METRICS.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Heat {
  /** Null for states, and until the values of the chosen metric are there. */
  map: HeatMap | null;
  /** A sentence where the values can't be read. */
  problem: string;
}

/** The colours of the chosen metric. */
export function useHeatMap(view: PoolView, enabled: boolean): Heat {
  const metric = metricOf(view.colour);
  const { value, failure, fresh } = usePolled<NodeValues>({
    path: pathOfPool(view, "telemetry", "nodes") + (metric ? valuesQuery(metric) : ""),
    queryKey: view.colour,
    intervalMs: INTERVAL_MS,
    enabled: enabled && metric !== undefined,
  });
  const values = fresh ? value : null;
  const map = useMemo(() => (metric && values ? heatMapOf(metric, values.value) : null), [metric, values]);
  return { map, problem: metric && fresh && failure ? problemOf(values) : "" };
}

/** Says which colours remain while the values can't be read. */
function problemOf(values: NodeValues | null): string {
  if (!values) return "The nodes' values can't be read, so states colour the map.";
  return `The nodes' values can't be read; the colours are of ${formatTime(Date.parse(values.at))}.`;
}
