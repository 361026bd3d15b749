// Texts of numbers.

const NUMBERS = new Intl.NumberFormat("en-US");
const RATES = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

export function formatCount(value: number): string {
  return NUMBERS.format(value);
}

/** "1.2K". */
export function formatCompact(value: number): string {
  return COMPACT.format(value);
}

/** "1 job", "3 jobs". */
export function plural(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** "2 active, 1 disabled". */
export function statesText(byState: Record<string, number>): string {
  return Object.entries(byState)
    .map(([state, number]) => `${formatCount(number)} ${state}`)
    .join(", ");
}

/** "12.4", "1,204"; "–" if unknown. */
export function formatRate(value: number | null): string {
  if (value === null) return "–";
  return value > 0 && value < 0.1 ? "< 0.1" : value >= 100 ? formatCount(Math.round(value)) : RATES.format(value);
}

/** "98.9%"; 100% and 0% only if exact. */
export function formatShare(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  if (part && percent < 0.1) return "< 0.1%";
  if (part < whole && percent > 99.9) return "> 99.9%";
  return `${RATES.format(percent)}%`;
}

/** "0.02", "< 0.001": a p-value. */
export function formatChance(value: number): string {
  return value < 0.001 ? "< 0.001" : NUMBERS.format(value);
}
