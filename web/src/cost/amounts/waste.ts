// The waste in a sum of costs.

import { CLASSES } from "./classes.ts";
import type { CostSum } from "./model.ts";

/** A cost class of waste; `amount` is null where none of its time has a price. */
export interface WasteEntry {
  name: string;
  label: string;
  /** A sentence. */
  meaning: string;
  amount: number | null;
  seconds: number;
}

/** The classes of waste in which there is any time, the dearest first, then those without a price. */
export function wasteOf({ amounts, nodeSeconds }: CostSum): WasteEntry[] {
  const entries = CLASSES.flatMap(({ name, label, waste }) => {
    const seconds = nodeSeconds[name] ?? 0;
    return waste && seconds > 0 ? [{ name, label, meaning: waste, amount: amounts[name] ?? null, seconds }] : [];
  });
  return entries.sort((one, other) => (other.amount ?? -1) - (one.amount ?? -1));
}
