// A row for each node and a bar for each run; where there are too many, columns of how busy each node was.

import { useMemo, useRef, useState } from "preact/hooks";
import { serverClock } from "../clock";
import { Outside, visible } from "../Outside";
import { useTipBeside } from "../Tip";
import { seconds } from "../words";
import { Fills, TimeLabels } from "./Axes";
import { busy, extentOf, rowsOf, type Placed, type Row } from "./lanes";
import type { Timeline } from "./model";
import { exactMoment, linear, timeTicks } from "./scales";
import { useWidth } from "./watching";
import { Columns, Runs } from "./TimelineRow";

const AXIS = 28;

interface ChartProps {
  timeline: Timeline;
  open: (task: string) => void;
}

/** The arrow keys go from run to run and from node to node, Enter opens a run's task. */
export function TimelineChart({ timeline, open }: ChartProps) {
  const { ref, width } = useWidth();
  const [chosen, choose] = useState<[number, number] | null>(null);
  const tip = useTipBeside();
  const box = useRef<SVGSVGElement>(null);
  const now = timeline.asOf ? Date.parse(timeline.asOf) : serverClock.now();
  const rows = useMemo(() => rowsOf(timeline, now), [timeline]);
  const label = width < 560 ? 96 : 190;
  const [from, to] = extentOf(timeline, rows, now);
  const x = linear([from, to], [label, Math.max(label + 1, width - 12)]);
  const ticks = timeTicks(from, to, (width - label) / 72);
  const height = rows.reduce((sum, row) => sum + row.height, 0);
  const at = (place: [number, number] | null) => place && (rows[place[0]]?.runs[place[1]] ?? null);

  const show = (place: [number, number] | null) => {
    choose(place);
    const placed = at(place);
    const bar = place && box.current?.querySelector(`[data-place="${place[0]}-${place[1]}"]`);
    bar?.scrollIntoView({ block: "nearest" });
    tip(placed && describe(placed), bar ?? undefined);
  };
  const step = (event: KeyboardEvent) => {
    const next = stepped(rows, chosen, event.key);
    if (next) show(next);
    else if (event.key === "Enter" && chosen) open(at(chosen)?.run.task ?? "");
    else if (event.key === "Escape" && chosen) show(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const under = (event: Event): [number, number] | null => {
    const place = (event.target as Element).getAttribute("data-place")?.split("-").map(Number);
    return place ? [place[0] ?? 0, place[1] ?? 0] : null;
  };
  const hover = (event: PointerEvent) => {
    const text = (event.target as Element).getAttribute("data-words") ?? at(under(event));
    tip(typeof text === "string" ? text : text && describe(text), event.target as Element);
  };
  const spoken = chosen ? describe(at(chosen) as Placed) : "";
  return (
    <>
      <div class="gantt scroll" ref={ref}>
        <svg class="gantt-axis" width={width} height={AXIS} aria-hidden="true">
          <TimeLabels ticks={ticks} x={x} left={label} right={width} />
        </svg>
        <svg
          ref={box}
          width={width}
          height={height}
          tabIndex={0}
          role="application"
          aria-label="Runs by node; the arrow keys go from run to run, Enter opens the task"
          onKeyDown={step}
          onBlur={() => show(null)}
          onPointerOver={hover}
          onPointerLeave={() => tip(null)}
          onClick={(event) => {
            const placed = at(under(event));
            if (placed) open(placed.run.task);
          }}
        >
          <Fills name="timeline" />
          {ticks.map((tick) => (
            <line key={tick.at} class="divide" x1={x(tick.at)} x2={x(tick.at)} y1={0} y2={height} />
          ))}
          {rows.map((row, index) => (
            <g key={`${row.node.poolId} ${row.node.nodeId}`} data-node={row.node.nodeId}>
              {index > 0 && <line class="divide" x1={0} x2={width} y1={row.top} y2={row.top} />}
              <NodeName row={row} width={label} />
              {timeline.aggregated ? <Columns row={row} x={x} most={mostBusy(timeline)} /> : <Runs row={row} index={index} x={x} chosen={chosen} />}
            </g>
          ))}
        </svg>
      </div>
      <p class="unseen" aria-live="polite">
        {visible(spoken)}
      </p>
    </>
  );
}

function NodeName({ row, width }: { row: Row; width: number }) {
  const { nodeId, poolId, busySlotSeconds } = row.node;
  return (
    <foreignObject x={4} y={row.top} width={width - 12} height={row.height}>
      <div class="node-name" title={`${visible(nodeId)}${poolId ? ` in ${visible(poolId)}` : ""}: ${busy(busySlotSeconds)}`}>
        <Outside text={nodeId} />
      </div>
    </foreignObject>
  );
}

function stepped(rows: Row[], here: [number, number] | null, key: string): [number, number] | null {
  const [row, run] = here ?? [0, -1];
  const length = rows[row]?.runs.length ?? 0;
  if (key === "ArrowRight" && run + 1 < length) return [row, run + 1];
  if (key === "ArrowLeft" && run > 0) return [row, run - 1];
  const other = key === "ArrowDown" ? (here ? row + 1 : 0) : key === "ArrowUp" ? row - 1 : -1;
  const runs = rows[other]?.runs ?? [];
  const from = rows[row]?.runs[run]?.from ?? -Infinity;
  if (!runs.length) return null;
  const after = runs.findIndex((each) => each.from >= from);
  return [other, after < 0 ? runs.length - 1 : after];
}

function mostBusy(timeline: Timeline): number {
  const pace = (start: string, end: string) => Math.max(1, (Date.parse(end) - Date.parse(start)) / 1000);
  const all = timeline.nodes.flatMap(({ buckets = [] }) =>
    buckets.map(({ start, end, busySlotSeconds }) => busySlotSeconds / pace(start, end)),
  );
  return all.reduce((most, each) => Math.max(most, each), 0) || 1;
}

function describe({ run, from, to }: Placed): string {
  const end = run.end ? `to ${exactMoment(to)}` : "and goes on";
  const result = run.result === "failure" ? "failed" : run.result === "success" ? "succeeded" : run.end ? "ended" : "running";
  return `${run.task} · ${result} · ${exactMoment(from)} ${end} · ${seconds((to - from) / 1000)}`;
}
