// The legend of the map of nodes while it is coloured by a metric: its scale, and the nodes without data.

import { formatCount } from "../../format/numbers.ts";
import type { MapNode } from "../../nodes/model.ts";
import { endsOf, type HeatMap, LEVELS } from "./heat.ts";

export function HeatLegend({ heat, nodes }: { heat: HeatMap; nodes: MapNode[] }) {
  const [low, high] = endsOf(heat.scale);
  const silent = nodes.filter(({ id }) => heat.groupOf(id) === "heat-none").length;
  return (
    <p class="heat-legend" data-testid="heat-legend">
      {heat.title}: {low}
      {Array.from({ length: LEVELS }, (_, level) => (
        <i key={level} class="swatch" data-cells-of={`heat-${level}`} aria-hidden="true" />
      ))}
      <span class="unseen"> to </span>
      {high}
      {silent > 0 && (
        <span>
          <i class="swatch" data-cells-of="heat-none" aria-hidden="true" /> {formatCount(silent)} without data
        </span>
      )}
    </p>
  );
}
