// The geometry of the node map: a grid of cells that fills a width, and the cell at a point or after a key.

import type { MapNode } from "../../nodes/model.ts";

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

/** The more nodes, the smaller the cells. */
export function gridOf(nodes: number, width: number): Grid {
  const size = SIZES.find(([most]) => nodes <= most)?.[1] ?? 8;
  const pitch = size + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / pitch));
  return { columns, rows: Math.ceil(nodes / columns), size, pitch };
}

export function positionOf(index: number, { columns, pitch }: Grid): { x: number; y: number } {
  return { x: (index % columns) * pitch, y: Math.floor(index / columns) * pitch };
}

/** The index of the node at a point; null if there is none. */
export function nodeAt(x: number, y: number, { columns, pitch }: Grid, nodes: number): number | null {
  const column = Math.floor(x / pitch);
  const index = Math.floor(y / pitch) * columns + column;
  return column >= 0 && column < columns && index >= 0 && index < nodes ? index : null;
}

/** The index of the node to which a key moves from `here` (null: before the first); null if it doesn't move. */
export function nextIndex(key: string, here: number | null, { columns }: Grid, nodes: number): number | null {
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

interface CellGroup<Group extends string> {
  group: Group;
  /** Whether the cells' nodes match the filters; others are faint. */
  matching: boolean;
  path: string;
  number: number;
}

/** One path for all cells of a group, as a map may have five thousand; `groups` are in the order of drawing. */
export function cellGroups<Group extends string>(
  nodes: MapNode[],
  grid: Grid,
  matches: (node: MapNode) => boolean,
  groups: readonly Group[],
  groupOf: (node: MapNode) => Group,
): CellGroup<Group>[] {
  const paths = new Map<string, string[]>();
  nodes.forEach((node, index) => {
    const { x, y } = positionOf(index, grid);
    const name = `${groupOf(node)} ${matches(node)}`;
    const cells = paths.get(name) ?? [];
    cells.push(`M${x} ${y}h${grid.size}v${grid.size}h-${grid.size}z`);
    paths.set(name, cells);
  });
  return groups.flatMap((group) =>
    [false, true].flatMap((matching) => {
      const cells = paths.get(`${group} ${matching}`);
      return cells ? [{ group, matching, path: cells.join(""), number: cells.length }] : [];
    }),
  );
}
