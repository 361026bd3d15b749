// The timeline's chart: a row for each node with a bar for each run or, if there are too many, columns of its load.

import { useMemo, useRef, useState } from "preact/hooks";
import { FillPatterns, TimeLabels } from "../../charts/Axes.tsx";
import { linear, timeTicks } from "../../charts/scales.ts";
import { useWidth } from "../../charts/useWidth.ts";
import { visible } from "../../format/text.ts";
import { serverClock } from "../../time/clock.ts";
import { useTooltipSetter } from "../../ui/text/Tooltip.tsx";
import type { Timeline } from "./model.ts";
import { SelectedMark, TimelineRow } from "./TimelineRow.tsx";
import { extentOf, maxSlots, nextMark, rowsOf } from "./timelineRows.ts";

const AXIS = 28;

type MarkPosition = [row: number, mark: number];

interface ChartProps {
  timeline: Timeline;
  open: (task: string) => void;
}

/** Arrow keys move between runs and nodes, Enter opens a run's task. */
export function TimelineChart({ timeline, open }: ChartProps) {
  const { ref, width } = useWidth();
  const [selected, setSelected] = useState<MarkPosition | null>(null);
  const here = useRef<MarkPosition | null>(null); // Keys may arrive faster than renders.
  const setTooltip = useTooltipSetter();
  const box = useRef<SVGSVGElement>(null);
  const now = timeline.asOf ? Date.parse(timeline.asOf) : serverClock.now();
  const rows = useMemo(() => rowsOf(timeline, now), [timeline]);
  const slotsPerRow = useMemo(() => maxSlots(rows), [rows]);
  const [from, to] = extentOf(timeline, rows);
  const label = width < 560 ? 96 : 190;
  const x = linear([from, to], [label, Math.max(label + 1, width - 12)]);
  const ticks = timeTicks(from, to, (width - label) / 72);
  const height = rows.reduce((sum, row) => sum + row.height, 0);
  // Memoized, as there may be thousands of bars.
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
          slotsPerRow={slotsPerRow}
        />
      )),
    [rows, width],
  );
  const markAt = (position: MarkPosition | null) => (position && rows[position[0]]?.marks[position[1]]) || null;

  const mark = markAt(selected);
  const row = selected && rows[selected[0]];

  const select = (position: MarkPosition | null) => {
    here.current = position;
    setSelected(position);
    const bar = position && box.current?.querySelector(`[data-place="${position.join("-")}"]`);
    bar?.scrollIntoView({ block: "nearest" });
    // Scroll events arrive in the next frame, and hide tooltips.
    requestAnimationFrame(() => setTooltip(markAt(position)?.label ?? null, bar ?? undefined));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextMark(rows, here.current, event.key);
    const task = markAt(here.current)?.task;
    if (next) select(next);
    else if (event.key === "Enter" && task) open(task);
    else if (event.key === "Escape" && here.current) select(null);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const markUnder = (event: Event) => {
    const position = (event.target as Element).getAttribute("data-place")?.split("-").map(Number);
    return markAt((position as MarkPosition | undefined) ?? null);
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
          onKeyDown={onKeyDown}
          onBlur={() => here.current && select(null)}
          onPointerOver={(event) => setTooltip(markUnder(event)?.label ?? null, event.target as Element)}
          onPointerLeave={() => setTooltip(null)}
          onClick={(event) => {
            const task = markUnder(event)?.task;
            if (task) open(task);
          }}
        >
          <FillPatterns name="timeline" />
          {ticks.map((tick) => (
            <line key={tick.at} class="divide" x1={x(tick.at)} x2={x(tick.at)} y1={0} y2={height} />
          ))}
          {bars}
          {row && mark && <SelectedMark row={row} mark={mark} x={x} label={label} />}
        </svg>
      </div>
      <p class="unseen" aria-live="polite">
        {visible(mark?.label ?? "")}
      </p>
    </>
  );
}
