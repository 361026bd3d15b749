// The colours of a heat map: a few levels between 0 and a round maximum.

import { ticksOf, type Unit, valueText } from "../../telemetry/series/units.ts";
import type { Metric } from "./metrics.ts";
import type { NodeValue } from "./model.ts";

export const LEVELS = 5;
/** The groups of cells: nodes without data, then levels from the lowest. */
export const HEAT_GROUPS = ["heat-none", "heat-0", "heat-1", "heat-2", "heat-3", "heat-4"] as const;
export type HeatGroup = (typeof HEAT_GROUPS)[number];

/** Levels of equal width from 0 to `top`. */
export interface HeatScale {
  top: number;
  unit: Unit;
}

/** A scale up to a round number above all values; shares go up to 100%. */
export function heatScaleOf(values: number[], unit: Unit): HeatScale {
  const highest = values.reduce((most, value) => Math.max(most, value), 0);
  return { top: ticksOf(highest, unit, 2).at(-1) ?? 1, unit };
}

/** The level of a value, from 0. */
export function levelOf(value: number, { top }: HeatScale): number {
  return Math.max(0, Math.min(LEVELS - 1, Math.floor((value / top) * LEVELS)));
}

/** A map of nodes by a metric: the group of each node's cell, and a text about its value. */
export interface HeatMap {
  title: string;
  scale: HeatScale;
  groupOf: (node: string) => HeatGroup;
  textOf: (node: string) => string;
}

export function heatMapOf({ title, unit }: Metric, values: NodeValue[]): HeatMap {
  const known = new Map(values.flatMap(({ id, value }) => (value === null ? [] : [[id, value] as const])));
  const scale = heatScaleOf([...known.values()], unit);
  return {
    title,
    scale,
    groupOf: (node) => {
      const value = known.get(node);
      return value === undefined ? "heat-none" : (HEAT_GROUPS[levelOf(value, scale) + 1] ?? "heat-none");
    },
    textOf: (node) => {
      const value = known.get(node);
      return value === undefined ? `no ${title} data` : `${title} ${valueText(value, unit)}`;
    },
  };
}

/** "0%" and "100%": the texts of both ends. */
export function endsOf({ top, unit }: HeatScale): [low: string, high: string] {
  return [valueText(0, unit), valueText(top, unit)];
}
