// Texts of values with units, and round values for an axis: bytes by 1,024, shares in percent.

export type Unit = "share" | "bytes" | "bytes a second" | "watts" | "degrees" | "number" | "value";

const POWERS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const FINE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const FEWER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const PLAIN = { watts: "W", degrees: "°C", number: "", value: "" };
/** The smallest maximum of an axis, so that an idle machine's noise doesn't fill it. */
const MIN_TOP = { bytes: 1024, "bytes a second": 1024, watts: 10, degrees: 50, number: 1, value: 0 };
/** Any values below have significant digits instead of two decimals. */
const TINY = 0.01;
/** Between labelled ticks, as a share of the axis. */
const MIN_TICK_DISTANCE = 0.15;
const ROUND = [1, 2, 2.5, 5, 10];

/** "37.2%", "1.4 GiB", "230 KiB/s", "71 °C". */
export function valueText(value: number, unit: Unit): string {
  if (unit === "share") return `${digits(value * 100)}%`;
  if (unit === "bytes" || unit === "bytes a second") {
    const power = exponentOf(value);
    return `${digits(value / 1024 ** power)} ${POWERS[power]}${unit === "bytes" ? "" : "/s"}`;
  }
  const isTiny = unit === "value" && value !== 0 && Math.abs(value) < TINY;
  return `${isTiny ? value.toPrecision(2) : digits(value)} ${PLAIN[unit]}`.trimEnd();
}

/** The ends of a value axis, and the ticks to label, which leave room for their texts; only any values go below 0. */
export function axisOf(min: number, max: number, unit: Unit, limit: number | null) {
  if (unit !== "value" || min >= 0) {
    const ticks = ticksOf(max, unit, 2, limit);
    return { low: 0, high: ticks.at(-1) ?? 1, ticks };
  }
  const high = max > 0 ? (ticksOf(max, unit, 1).at(-1) ?? 0) : 0;
  const ticks = [min];
  for (const tick of [0, high]) if (tick - (ticks.at(-1) ?? min) >= (high - min) * MIN_TICK_DISTANCE) ticks.push(tick);
  return { low: min, high, ticks };
}

/**
 * About `tickCount` round numbers from 0 to at least `max`. With a limit that `max` doesn't exceed: 0, half the limit,
 * and the limit. Shares go up to 100%.
 */
export function ticksOf(max: number, unit: Unit, tickCount: number, limit: number | null = null): number[] {
  if (unit === "share") return [0, 0.5, 1];
  if (limit && max <= limit) return [0, limit / 2, limit];
  const top = Math.max(max, MIN_TOP[unit]) || 1;
  const scale = unit.startsWith("bytes") ? 1024 ** exponentOf(top) : 1;
  const raw = top / scale / tickCount;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = (ROUND.find((each) => each * power >= raw * 0.999) ?? 10) * power;
  const last = Math.ceil(top / scale / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => index * step * scale);
}

function exponentOf(bytes: number): number {
  const size = Math.abs(bytes);
  return Math.min(
    POWERS.length - 1,
    POWERS.findLastIndex((_, power) => power === 0 || size >= 1000 * 1024 ** (power - 1)),
  );
}

/** Three significant digits. */
function digits(value: number): string {
  const size = Math.abs(value);
  return (size >= 100 ? WHOLE : size >= 10 ? FEWER : FINE).format(value);
}
