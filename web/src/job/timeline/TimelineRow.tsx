// A node's row in a timeline: its name, and its runs as bars or its steps as columns.

import type { Scale } from "../../charts/scales.ts";
import { visible } from "../../format/text.ts";
import { ShortId } from "../../ui/text/Id.tsx";
import { laneBox, type Mark, type Row, slotTimeText } from "./timelineRows.ts";

interface RowProps {
  row: Row;
  index: number;
  x: Scale;
  /** The width of the name. */
  label: number;
  width: number;
  /** Slots in use that fill the height of a row. */
  slotsPerRow: number;
}

export function TimelineRow({ row, index, x, label, width, slotsPerRow }: RowProps) {
  return (
    <g data-node={row.node.nodeId ?? ""}>
      {index > 0 && <line class="divide" x1={0} x2={width} y1={row.top} y2={row.top} />}
      <NodeName row={row} width={label} />
      {row.marks.map((mark, at) => {
        const span = spanOf(mark, x, label);
        const place = `${index}-${at}`;
        return mark.load ? (
          <Column key={mark.from} row={row} mark={mark} span={span} place={place} slotsPerRow={slotsPerRow} />
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
  slotsPerRow: number;
}

/** The load of a step as a column; the lower part is the share of failed tasks. */
function Column({ row, mark, span, place, slotsPerRow }: ColumnProps) {
  const bottom = row.top + row.height - 5;
  const fullHeight = ((mark.load?.slots ?? 0) / slotsPerRow) * (row.height - 10);
  const failedHeight = fullHeight * (mark.load?.failed ?? 0);
  return (
    <>
      <rect class="run" data-run="busy" data-place={place} {...span} y={bottom - fullHeight} height={fullHeight} />
      {failedHeight > 0 && (
        <rect
          class="run"
          data-run="failure"
          data-place={place}
          {...span}
          y={bottom - failedHeight}
          height={failedHeight}
        />
      )}
    </>
  );
}

/** The frame around the mark that the keyboard selected. */
export function SelectedMark({ row, mark, x, label }: Pick<RowProps, "row" | "x" | "label"> & { mark: Mark }) {
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
  const title = `${visible(name)}${poolId ? ` in ${visible(poolId)}` : ""}: ${slotTimeText(busySlotSeconds)}`;
  return (
    <foreignObject x={4} y={row.top} width={width - 12} height={row.height}>
      <div class="node-name" title={title}>
        <ShortId text={name} />
      </div>
    </foreignObject>
  );
}
