// Nodes by group of states: as the parts of a bar, and as a legend with numbers and states.

import type { NodeCounts } from "../api/model.ts";
import { formatCount } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import {
  countsByGroup,
  GROUP_LABELS,
  STATE_GROUPS,
  type StateGroup,
  sortedStates,
  stateGroupOf,
  stateLabel,
} from "./stateGroups.ts";

/** Hidden from screen readers, as text nearby has the numbers. */
export function NodeBar({ counts }: { counts: NodeCounts | null }) {
  const groups = countsByGroup(counts ?? {});
  return (
    <div class="bar of-nodes" aria-hidden="true">
      {STATE_GROUPS.map((group) => (
        <span
          key={group}
          class="part"
          data-kind={group}
          style={{ flexGrow: String(groups[group]) }}
          hidden={!groups[group]}
        />
      ))}
    </div>
  );
}

export function GroupSwatch({ group }: { group: StateGroup }) {
  return <span class="swatch" data-kind={group} aria-hidden="true" />;
}

/** The groups that have nodes: swatch, number of nodes, label, states. */
export function NodeLegend({ counts }: { counts: NodeCounts }) {
  const groups = countsByGroup(counts);
  const shown = STATE_GROUPS.filter((group) => groups[group]);
  return (
    <ul class="node-legend" data-testid="node-legend">
      {shown.map((group) => (
        <li key={group} data-legend={group}>
          <GroupSwatch group={group} /> <b>{formatCount(groups[group])}</b> {GROUP_LABELS[group]}
          <GroupStates counts={counts} group={group} />
        </li>
      ))}
    </ul>
  );
}

/** The states of a group, if they say more than its label. */
function GroupStates({ counts, group }: { counts: NodeCounts; group: StateGroup }) {
  const states = sortedStates(counts).filter(([state, number]) => number && stateGroupOf(state) === group);
  const [only] = states;
  if (states.length === 1 && (only?.[0] === group || group === "running")) return null;
  const labels = states.map(([state, number]) =>
    states.length > 1 ? `${formatCount(number)} ${stateLabel(state)}` : stateLabel(state),
  );
  return <small>: {visible(labels.join(", "))}</small>;
}

/** Fills of the groups in charts, which differ by more than their hue. */
export function NodeFillPatterns() {
  const size = { width: 5, height: 5, patternUnits: "userSpaceOnUse" } as const;
  return (
    <>
      <pattern id="nodes-trouble" {...size} patternTransform="rotate(45)">
        <rect class="trouble" width="5" height="5" />
        <rect class="stripe" width="2" height="5" />
      </pattern>
      <pattern id="nodes-starting" {...size}>
        <rect class="starting" width="5" height="5" />
        <rect class="stripe" width="5" height="2" />
      </pattern>
      <pattern id="nodes-preempted" {...size}>
        <rect class="preempted" width="5" height="5" />
        <rect class="stripe" width="2" height="5" />
      </pattern>
    </>
  );
}
