// One node of a timeline: its runs as bars, or its steps as columns.

import { plural } from "../words";
import { busy, laneBox, type Row } from "./lanes";
import { exactMoment, type Scale } from "./scales";

interface RunsProps {
  row: Row;
  index: number;
  x: Scale;
  chosen: [number, number] | null;
}

export function Runs({ row, index, x, chosen }: RunsProps) {
  return (
    <>
      {row.runs.map(({ run, from, to, lane }, at) => {
        const { y, height } = laneBox(row, lane);
        return (
          <rect
            key={`${run.task} ${run.start}`}
            class="run"
            data-run={run.result ?? (run.end ? "ended" : "running")}
            data-place={`${index}-${at}`}
            data-chosen={chosen?.[0] === index && chosen[1] === at}
            x={x(from)}
            width={Math.max(2, x(to) - x(from) - 1)}
            y={y}
            height={height}
            rx={2}
          />
        );
      })}
    </>
  );
}

/** A column is as high as its step was busy, compared with the busiest; failed tasks take their share of it. */
export function Columns({ row, x, most }: { row: Row; x: Scale; most: number }) {
  const bottom = row.top + row.height - 5;
  return (
    <>
      {(row.node.buckets ?? []).map(({ start, end, tasks, busySlotSeconds, failed }) => {
        const from = Date.parse(start);
        const to = Date.parse(end);
        const full = (busySlotSeconds / Math.max(1, (to - from) / 1000) / most) * (row.height - 10);
        const part = tasks ? (failed / tasks) * full : 0;
        const box = { x: x(from), width: Math.max(1, x(to) - x(from) - 1) };
        const words = `${exactMoment(from)} to ${exactMoment(to)} · ${plural(tasks, "task")}, ${failed} failed · ${busy(busySlotSeconds)}`;
        return (
          <g key={start}>
            <rect class="run" data-run="busy" data-words={words} {...box} y={bottom - full} height={full} />
            {part > 0 && <rect class="run" data-run="failure" data-words={words} {...box} y={bottom - part} height={part} />}
          </g>
        );
      })}
    </>
  );
}
