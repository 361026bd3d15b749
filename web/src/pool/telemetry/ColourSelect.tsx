// The choice of what colours the map of nodes: their states, or a metric.

import { useContext, useMemo } from "preact/hooks";
import type { Page } from "../../api/model.ts";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatTime } from "../../format/dates.ts";
import { visible } from "../../format/text.ts";
import { Navigation } from "../../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../../routing/poolView.ts";
import { type HeatMap, heatMapOf } from "./heat.ts";
import { METRICS, metricOf, nameInAddress, optionText, otherMetricOf, otherMetrics, valuesQuery } from "./metrics.ts";
import type { MetricName, NodeValues } from "./model.ts";

const INTERVAL_MS = 30_000;
const LIST_INTERVAL_MS = 300_000;

/** The usual metrics, and all others that nodes of the pool send. */
export function ColourSelect({ view, enabled }: { view: PoolView; enabled: boolean }) {
  const navigate = useContext(Navigation);
  const { value, failure } = usePolled<Page<MetricName>>({
    path: pathOfPool(view, "telemetry", "metrics"),
    intervalMs: LIST_INTERVAL_MS,
    enabled,
  });
  const others = useMemo(() => otherMetrics(value?.value ?? [], view.colour), [value, view.colour]);
  return (
    <label class="colour">
      Colour by{" "}
      <select
        name="colour"
        value={metricOf(view.colour) || nameInAddress(view.colour) ? view.colour : ""}
        onChange={(event) => navigate(addressOfPoolView({ ...view, colour: event.currentTarget.value }), "replace")}
      >
        <option value="">state</option>
        {METRICS.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
        {(others.length > 0 || failure) && (
          <optgroup label="Other metrics">
            {others.map((metric) => (
              <option key={metric.id} value={metric.id}>
                {visible(optionText(metric))}
              </option>
            ))}
            {failure && !value && <option disabled={true}>The list can't be read.</option>}
          </optgroup>
        )}
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
  const usual = metricOf(view.colour);
  const metric = usual ?? nameInAddress(view.colour);
  const { value, failure, fresh } = usePolled<NodeValues>({
    path: pathOfPool(view, "telemetry", "nodes") + (metric ? valuesQuery(metric) : ""),
    queryKey: view.colour,
    intervalMs: INTERVAL_MS,
    enabled: enabled && metric !== null,
  });
  const values = fresh ? value : null;
  const map = useMemo(() => {
    const other = nameInAddress(view.colour);
    const shown = usual ?? (other && values && otherMetricOf({ ...other, unit: values.unit }));
    return shown && values ? heatMapOf(shown, values.value) : null;
  }, [usual, view.colour, values]);
  return { map, problem: metric && fresh && failure ? problemOf(values) : "" };
}

/** Says which colours remain while the values can't be read. */
function problemOf(values: NodeValues | null): string {
  if (!values) return "The nodes' values can't be read, so states colour the map.";
  return `The nodes' values can't be read; the colours are of ${formatTime(Date.parse(values.at))}.`;
}
