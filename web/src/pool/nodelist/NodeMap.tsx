// The nodes of a pool as a map: a cell for each, coloured by group of states or by a metric. Arrow keys move between
// nodes, Enter opens one.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../charts/useWidth.ts";
import { formatAge } from "../../format/durations.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { visible } from "../../format/text.ts";
import type { MapNode, NodeStates } from "../../nodes/model.ts";
import { NodeFillPatterns } from "../../nodes/NodeBar.tsx";
import { STATE_GROUPS, stateGroupOf, stateLabel } from "../../nodes/stateGroups.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { serverClock } from "../../time/clock.ts";
import { useTooltipSetter } from "../../ui/text/Tooltip.tsx";
import { HEAT_GROUPS, type HeatMap } from "../telemetry/heat.ts";
import { cellGroups, gridOf, nextIndex, nodeAt, positionOf } from "./cells.ts";
import { crossesOf, type FailingNodes, findingsOn } from "./failing.ts";

interface MapProps {
  states: NodeStates;
  view: PoolView;
  /** Null while states colour the map. */
  heat: HeatMap | null;
  failing: FailingNodes;
  open: (node: string) => void;
}

export function NodeMap({ states, view, heat, failing, open }: MapProps) {
  const { nodes, otherNodes, otherCauses } = states;
  const { ref, width } = useWidth();
  const [chosen, choose] = useState<number | null>(null);
  const here = useRef<number | null>(null); // Keys may arrive faster than renders.
  const mark = useRef<SVGRectElement>(null);
  const movedByKey = useRef(false);
  const setTooltip = useTooltipSetter();
  const grid = useMemo(() => gridOf(nodes.length, width), [nodes.length, width]);
  const matches = useMemo(() => filterOf(states, view), [states, view.state, view.cause, view.flapping, view.prefix]);
  const cells = useMemo(
    () =>
      heat
        ? cellGroups(nodes, grid, matches, HEAT_GROUPS, ({ id }) => heat.groupOf(id))
        : cellGroups(nodes, grid, matches, STATE_GROUPS, ({ state }) => stateGroupOf(state)),
    [nodes, grid, matches, heat],
  );
  const crosses = useMemo(() => crossesOf(nodes, failing, grid), [nodes, failing, grid]);
  const node = chosen === null ? undefined : nodes[chosen];
  const text = node
    ? nodeText(node, states.vmSizes) +
      (heat ? `; ${heat.textOf(node.id)}` : "") +
      (findingsOn(failing, node.id).length ? "; tasks fail on it" : "")
    : null;
  useEffect(() => {
    if (movedByKey.current) mark.current?.scrollIntoView({ block: "nearest" });
    // Scroll events arrive in the next frame, and hide tooltips.
    requestAnimationFrame(() => setTooltip(text, mark.current ?? undefined));
  }, [chosen, node?.id, text]);
  useEffect(() => () => setTooltip(null), []);

  const show = (index: number | null, key: boolean) => {
    movedByKey.current = key;
    here.current = index;
    choose(index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, here.current, grid, nodes.length);
    const current = here.current === null ? undefined : nodes[here.current];
    if (next !== null) show(next, true);
    else if (event.key === "Enter" && current) open(current.id);
    else if (event.key === "Escape" && here.current !== null) show(null, true);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const indexAt = (event: MouseEvent) => nodeAt(event.offsetX, event.offsetY, grid, nodes.length);
  return (
    <>
      <div class="node-map scroll">
        <div ref={ref}>
          <svg
            width={width}
            height={grid.rows * grid.pitch}
            tabIndex={0}
            role="application"
            aria-label={`Map of ${plural(nodes.length, "node")}. Arrow keys move between nodes, Enter opens one.`}
            data-cells={nodes.length}
            onKeyDown={onKeyDown}
            onBlur={() => show(null, true)}
            onPointerMove={(event) => indexAt(event) !== here.current && show(indexAt(event), false)}
            onPointerLeave={() => show(null, false)}
            onClick={(event) => {
              const index = indexAt(event);
              const found = index === null ? undefined : nodes[index];
              if (found) open(found.id);
            }}
          >
            <defs>
              <NodeFillPatterns />
            </defs>
            {cells.map(({ group, matching, path, number }) => (
              <path
                key={`${group} ${matching}`}
                class={matching ? "cells" : "cells unwanted"}
                data-cells-of={group}
                data-number={number}
                d={path}
              />
            ))}
            {crosses && <path class="failing-cells" data-testid="failing-cells" d={crosses} />}
            {node && chosen !== null && (
              <rect ref={mark} class="chosen-cell" {...positionOf(chosen, grid)} width={grid.size} height={grid.size} />
            )}
          </svg>
        </div>
      </div>
      {otherNodes > 0 && (
        <p class="note map-note">
          Showing {formatCount(nodes.length)} of {formatCount(nodes.length + otherNodes)} nodes.
        </p>
      )}
      {view.cause && otherCauses > 0 && (
        <p class="note map-note">
          The map can't highlight {plural(otherCauses, "node")} with rarer causes; the table below lists them.
        </p>
      )}
      <p class="unseen" aria-live="polite">
        {movedByKey.current && text}
      </p>
    </>
  );
}

/** The filters of the table; a cause matches by any part of its text, in upper or lower case. */
function filterOf({ causes }: NodeStates, { state, cause, flapping, prefix }: PoolView): (node: MapNode) => boolean {
  const part = cause.toLowerCase();
  const found = causes.map((each) => each.cause.toLowerCase().includes(part));
  return (node) =>
    (!state || node.state === state) &&
    (!cause || (node.cause !== null && found[node.cause] === true)) &&
    (!flapping || node.flapping) &&
    node.id.toLowerCase().startsWith(prefix.toLowerCase());
}

/** "tvmps_…: unusable for 3 h, dedicated, standard_d4s_v5". */
function nodeText(node: MapNode, sizes: string[]): string {
  const { id, state, stateTransitionTime, isDedicated, runningTasks, vmSize } = node;
  const age = stateTransitionTime ? ` for ${formatAge(serverClock.now() - Date.parse(stateTransitionTime))}` : "";
  const tasks = runningTasks ? `, ${plural(runningTasks, "running task")}` : "";
  const size = vmSize === null ? undefined : sizes[vmSize];
  return visible(`${id}: ${stateLabel(state)}${age}${tasks}, ${isDedicated ? "dedicated" : "spot"}${size ? `, ${size}` : ""}`);
}
