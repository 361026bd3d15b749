// The colours of a heat map: a few levels between 0 and 100% for shares, else between the lowest and the highest value.

import { type Unit, valueText } from "../../telemetry/series/units.ts";
import type { Metric } from "./metrics.ts";
import type { NodeValue } from "./model.ts";

export const LEVELS = 5;
/** The groups of cells: nodes without data, then levels from the lowest. */
export const HEAT_GROUPS = ["heat-none", "heat-0", "heat-1", "heat-2", "heat-3", "heat-4"] as const;
export type HeatGroup = (typeof HEAT_GROUPS)[number];

/** Levels of equal width from `low` to `top`, which may be equal. */
export interface HeatScale {
  low: number;
  top: number;
  unit: Unit;
}

/** A scale from 0 to 100% for shares and percentages, else from the lowest to the highest value; null without values. */
export function heatScaleOf(values: number[], unit: Unit, isPercentage = false): HeatScale | null {
  if (unit === "share") return { low: 0, top: 1, unit };
  if (!values.length) return null;
  const [low, top] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [
    isPercentage ? 0 : Infinity,
    isPercentage ? 100 : -Infinity,
  ]);
  return { low, top, unit };
}

/** The level of a value, from 0. */
export function levelOf(value: number, { low, top }: HeatScale): number {
  const share = top > low ? (value - low) / (top - low) : 0;
  return Math.max(0, Math.min(LEVELS - 1, Math.floor(share * LEVELS)));
}

/** A map of nodes by a metric: the group of each node's cell, and a text about its value. */
export interface HeatMap {
  title: string;
  /** Null where no node has a value. */
  scale: HeatScale | null;
  groupOf: (node: string) => HeatGroup;
  textOf: (node: string) => string;
}

export function heatMapOf({ title, unit, isPercentage }: Metric, values: NodeValue[]): HeatMap {
  const known = new Map(values.flatMap(({ id, value }) => (value === null ? [] : [[id, value] as const])));
  const scale = heatScaleOf([...known.values()], unit, isPercentage);
  return {
    title,
    scale,
    groupOf: (node) => {
      const value = known.get(node);
      return value === undefined || !scale ? "heat-none" : (HEAT_GROUPS[levelOf(value, scale) + 1] ?? "heat-none");
    },
    textOf: (node) => {
      const value = known.get(node);
      return value === undefined ? `no ${title} data` : `${title} ${valueText(value, unit)}`;
    },
  };
}

/** "0%" and "100%": the texts of both ends. */
export function endsOf({ low, top, unit }: HeatScale): [low: string, high: string] {
  return [valueText(low, unit), valueText(top, unit)];
}
