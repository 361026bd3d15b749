// The legend of the map of nodes while it is coloured by a metric: its scale, and the nodes without data.

import { formatCount } from "../../format/numbers.ts";
import type { MapNode } from "../../nodes/model.ts";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { endsOf, type HeatMap, type HeatScale, LEVELS } from "./heat.ts";

export function HeatLegend({ heat, nodes }: { heat: HeatMap; nodes: MapNode[] }) {
  const silent = nodes.filter(({ id }) => heat.groupOf(id) === "heat-none").length;
  return (
    <p class="heat-legend" data-testid="heat-legend">
      <ExternalText text={`${heat.title}:`} />{" "}
      {heat.scale ? <Scale scale={heat.scale} /> : "no values"}
      {silent > 0 && (
        <span>
          <i class="swatch" data-cells-of="heat-none" aria-hidden="true" /> {formatCount(silent)} without data
        </span>
      )}
    </p>
  );
}

/** The levels between both ends, or the only value. */
function Scale({ scale }: { scale: HeatScale }) {
  const [low, high] = endsOf(scale);
  const levels = scale.top > scale.low ? LEVELS : 1;
  return (
    <>
      {levels > 1 && low}
      {Array.from({ length: levels }, (_, level) => (
        <i key={level} class="swatch" data-cells-of={`heat-${level}`} aria-hidden="true" />
      ))}
      {levels > 1 && <span class="unseen"> to </span>}
      {high}
    </>
  );
}
