// The nodes of a pool on which tasks fail beyond what chance explains, from the pool's findings.

import { plural } from "../../format/numbers.ts";
import type { Finding } from "../../ui/findings/model.ts";
import { type Grid, positionOf } from "./cells.ts";

const CODE = "nodeTasksFail";

/** Findings by the id of their node in lower case, several where tasks of several jobs fail there. */
export type FailingNodes = ReadonlyMap<string, Finding[]>;

export function failingNodesOf(findings: Finding[] | undefined): FailingNodes {
  const found = new Map<string, Finding[]>();
  for (const finding of findings ?? []) {
    const node = finding.evidence.nodeId;
    if (finding.code !== CODE || typeof node !== "string") continue;
    const key = node.toLowerCase();
    found.set(key, [...(found.get(key) ?? []), finding]);
  }
  return found;
}

export function findingsOn(failing: FailingNodes, node: string): Finding[] {
  return failing.get(node.toLowerCase()) ?? [];
}

/** A cross over each failing node's cell, as the path of one mark; empty without any. */
export function crossesOf(nodes: { id: string }[], failing: FailingNodes, grid: Grid): string {
  const inset = 2;
  const length = grid.size - 2 * inset;
  return nodes
    .flatMap(({ id }, index) => {
      if (!failing.has(id.toLowerCase())) return [];
      const { x, y } = positionOf(index, grid);
      const [left, top] = [x + inset, y + inset];
      return [`M${x} ${y}h${grid.size}v${grid.size}h-${grid.size}zM${left} ${top}l${length} ${length}m0 -${length}l-${length} ${length}`];
    })
    .join("");
}

/** "Tasks fail on 2 nodes more often than chance explains". */
export function failingText(failing: FailingNodes): string {
  return `Tasks fail on ${plural(failing.size, "node")} more often than chance explains`;
}
