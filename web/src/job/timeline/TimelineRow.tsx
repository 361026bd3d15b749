// One node of a timeline: its name, and its runs as bars or its steps as columns.

import type { Scale } from "../../charts/scales.ts";
import { visible } from "../../format/text.ts";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { busy, laneBox, type Mark, type Row } from "./lanes.ts";

interface RowProps {
  row: Row;
  index: number;
  x: Scale;
  /** How much of the width the name takes. */
  label: number;
  width: number;
  /** Slots that fill a row. */
  most: number;
}

export function TimelineRow({ row, index, x, label, width, most }: RowProps) {
  return (
    <g data-node={row.node.nodeId ?? ""}>
      {index > 0 && <line class="divide" x1={0} x2={width} y1={row.top} y2={row.top} />}
      <NodeName row={row} width={label} />
      {row.marks.map((mark, at) => {
        const span = spanOf(mark, x, label);
        const place = `${index}-${at}`;
        return mark.load ? (
          <Column key={mark.from} row={row} mark={mark} span={span} place={place} most={most} />
        ) : (
          <rect
            key={`${mark.task} ${mark.from}`}
            class="run"
            data-run={mark.kind}
            data-place={place}
            {...span}
            {...laneBox(row, mark.lane)}
            rx={2}
          />
        );
      })}
    </g>
  );
}

interface ColumnProps {
  row: Row;
  mark: Mark;
  span: { x: number; width: number };
  place: string;
  most: number;
}

/** As high as its step was busy, compared with the busiest; failed tasks take their share of it. */
function Column({ row, mark, span, place, most }: ColumnProps) {
  const bottom = row.top + row.height - 5;
  const full = ((mark.load?.slots ?? 0) / most) * (row.height - 10);
  const part = full * (mark.load?.failed ?? 0);
  return (
    <>
      <rect class="run" data-run="busy" data-place={place} {...span} y={bottom - full} height={full} />
      {part > 0 && (
        <rect class="run" data-run="failure" data-place={place} {...span} y={bottom - part} height={part} />
      )}
    </>
  );
}

/** What the keyboard is on. */
export function Chosen({ row, mark, x, label }: Pick<RowProps, "row" | "x" | "label"> & { mark: Mark }) {
  const box = mark.load ? { y: row.top + 2, height: row.height - 4 } : laneBox(row, mark.lane);
  return <rect class="chosen" {...spanOf(mark, x, label)} {...box} rx={2} />;
}

function spanOf(mark: Mark, x: Scale, label: number): { x: number; width: number } {
  const left = Math.max(label, x(mark.from));
  return { x: left, width: Math.max(2, x(mark.to) - left - 1) };
}

function NodeName({ row, width }: { row: Row; width: number }) {
  const { nodeId, poolId, busySlotSeconds } = row.node;
  const name = nodeId ?? "no node";
  const title = `${visible(name)}${poolId ? ` in ${visible(poolId)}` : ""}: ${busy(busySlotSeconds)}`;
  return (
    <foreignObject x={4} y={row.top} width={width - 12} height={row.height}>
      <div class="node-name" title={title}>
        <ExternalText text={name} />
      </div>
    </foreignObject>
  );
}
