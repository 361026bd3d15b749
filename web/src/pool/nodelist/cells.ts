// A cell for each node, in rows that fill a width: sizes, places, and what lies under a point or a key.

import type { MapNode } from "../../nodes/model.ts";
import { STATE_GROUPS, type StateGroup, stateGroupOf } from "../../nodes/stateGroups.ts";

const GAP = 2;
const SIZES: [nodes: number, size: number][] = [
  [120, 20],
  [600, 14],
  [2000, 10],
  [Infinity, 8],
];

export interface Grid {
  columns: number;
  rows: number;
  size: number;
  pitch: number;
}

/** The more nodes the smaller the cells. */
export function gridOf(nodes: number, width: number): Grid {
  const size = SIZES.find(([most]) => nodes <= most)?.[1] ?? 8;
  const pitch = size + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / pitch));
  return { columns, rows: Math.ceil(nodes / columns), size, pitch };
}

export function placeOf(index: number, { columns, pitch }: Grid): { x: number; y: number } {
  return { x: (index % columns) * pitch, y: Math.floor(index / columns) * pitch };
}

/** The node under a point; null where there is none. */
export function nodeAt(x: number, y: number, { columns, pitch }: Grid, nodes: number): number | null {
  const column = Math.floor(x / pitch);
  const index = Math.floor(y / pitch) * columns + column;
  return column >= 0 && column < columns && index >= 0 && index < nodes ? index : null;
}

/** Where a key leads from a node, or from before the first; null for nowhere. */
export function stepped(key: string, here: number | null, { columns }: Grid, nodes: number): number | null {
  const from = here ?? -1;
  const steps: Record<string, number> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - columns,
    ArrowDown: here === null ? 0 : from + columns,
    Home: 0,
    End: nodes - 1,
  };
  const to = steps[key];
  return to !== undefined && to >= 0 && to < nodes ? to : null;
}

export interface Layer {
  group: StateGroup;
  /** False for what the filters leave out, which steps back. */
  wanted: boolean;
  path: string;
  number: number;
}

/** All cells of a kind as one shape: five thousand of them are drawn at once. */
export function layersOf(nodes: MapNode[], grid: Grid, wants: (node: MapNode) => boolean): Layer[] {
  const paths = new Map<string, string[]>();
  nodes.forEach((node, index) => {
    const { x, y } = placeOf(index, grid);
    const name = `${stateGroupOf(node.state)} ${wants(node)}`;
    const cells = paths.get(name) ?? [];
    cells.push(`M${x} ${y}h${grid.size}v${grid.size}h-${grid.size}z`);
    paths.set(name, cells);
  });
  return STATE_GROUPS.flatMap((group) =>
    [false, true].flatMap((wanted) => {
      const cells = paths.get(`${group} ${wanted}`);
      return cells ? [{ group, wanted, path: cells.join(""), number: cells.length }] : [];
    }),
  );
}
