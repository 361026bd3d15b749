// A row for each node and a bar for each run; where there are too many, columns of how busy each node was.

import { useMemo, useRef, useState } from "preact/hooks";
import { Fills, TimeLabels } from "../../charts/Axes.tsx";
import { linear, timeTicks } from "../../charts/scales.ts";
import { useWidth } from "../../charts/useWidth.ts";
import { visible } from "../../format/text.ts";
import { serverClock } from "../../time/clock.ts";
import { useTooltipSetter } from "../../ui/text/Tooltip.tsx";
import { extentOf, mostSlots, rowsOf, stepped } from "./lanes.ts";
import type { Timeline } from "./model.ts";
import { Chosen, TimelineRow } from "./TimelineRow.tsx";

const AXIS = 28;

type Place = [row: number, mark: number];

interface ChartProps {
  timeline: Timeline;
  open: (task: string) => void;
}

/** The arrow keys go from run to run and from node to node, Enter opens a run's task. */
export function TimelineChart({ timeline, open }: ChartProps) {
  const { ref, width } = useWidth();
  const [chosen, choose] = useState<Place | null>(null);
  const here = useRef<Place | null>(null); // Keys may come faster than the chart is drawn.
  const setTooltip = useTooltipSetter();
  const box = useRef<SVGSVGElement>(null);
  const now = timeline.asOf ? Date.parse(timeline.asOf) : serverClock.now();
  const rows = useMemo(() => rowsOf(timeline, now), [timeline]);
  const most = useMemo(() => mostSlots(rows), [rows]);
  const [from, to] = extentOf(timeline, rows);
  const label = width < 560 ? 96 : 190;
  const x = linear([from, to], [label, Math.max(label + 1, width - 12)]);
  const ticks = timeTicks(from, to, (width - label) / 72);
  const height = rows.reduce((sum, row) => sum + row.height, 0);
  // The same bars stay as they are while one is chosen: there may be thousands.
  const bars = useMemo(
    () =>
      rows.map((each, index) => (
        <TimelineRow
          key={`${each.node.poolId} ${each.node.nodeId}`}
          row={each}
          index={index}
          x={x}
          label={label}
          width={width}
          most={most}
        />
      )),
    [rows, width],
  );
  const at = (place: Place | null) => (place && rows[place[0]]?.marks[place[1]]) || null;

  const mark = at(chosen);
  const row = chosen && rows[chosen[0]];

  const show = (place: Place | null) => {
    here.current = place;
    choose(place);
    const bar = place && box.current?.querySelector(`[data-place="${place.join("-")}"]`);
    bar?.scrollIntoView({ block: "nearest" });
    // Scrolling, which is told in the next frame, hides tips.
    requestAnimationFrame(() => setTooltip(at(place)?.words ?? null, bar ?? undefined));
  };
  const press = (event: KeyboardEvent) => {
    const next = stepped(rows, here.current, event.key);
    const task = at(here.current)?.task;
    if (next) show(next);
    else if (event.key === "Enter" && task) open(task);
    else if (event.key === "Escape" && here.current) show(null);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const under = (event: Event) => {
    const place = (event.target as Element).getAttribute("data-place")?.split("-").map(Number);
    return at((place as Place | undefined) ?? null);
  };
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
          aria-label="Task runs by node. Arrow keys move between runs, Enter opens the task."
          onKeyDown={press}
          onBlur={() => here.current && show(null)}
          onPointerOver={(event) => setTooltip(under(event)?.words ?? null, event.target as Element)}
          onPointerLeave={() => setTooltip(null)}
          onClick={(event) => {
            const task = under(event)?.task;
            if (task) open(task);
          }}
        >
          <Fills name="timeline" />
          {ticks.map((tick) => (
            <line key={tick.at} class="divide" x1={x(tick.at)} x2={x(tick.at)} y1={0} y2={height} />
          ))}
          {bars}
          {row && mark && <Chosen row={row} mark={mark} x={x} label={label} />}
        </svg>
      </div>
      <p class="unseen" aria-live="polite">
        {visible(mark?.words ?? "")}
      </p>
    </>
  );
}
