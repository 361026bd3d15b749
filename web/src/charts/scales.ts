// Scales from numbers and times to positions on the screen, and their ticks. Times are in the user's zone.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((each) => each * MINUTE);
const STEPS_OF_DAYS = [1, 2, 7, 14, 28];

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export type Scale = (value: number) => number;

/** A linear scale from a domain to a range; an empty domain maps to the range's start. */
export function linear([from, to]: [number, number], [start, end]: [number, number]): Scale {
  const slope = to > from ? (end - start) / (to - from) : 0;
  return (value) => start + (value - from) * slope;
}

/** About `tickCount` round numbers from 0 to at least `max`. */
export function countTicks(max: number, tickCount: number): number[] {
  const raw = Math.max(max, 1) / tickCount;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= raw) ?? 10));
  const whole = Number.isInteger(step) ? step : Math.ceil(step);
  return Array.from({ length: Math.ceil(Math.max(max, 1) / whole) + 1 }, (_, index) => index * whole);
}

export interface Tick {
  at: number;
  label: string;
  /** Whether it begins a day, among ticks of hours or less. */
  strong: boolean;
}

/** At most about `tickCount` ticks at round local times between two times. */
export function timeTicks(from: number, to: number, tickCount: number): Tick[] {
  const minStep = (to - from) / Math.max(1, tickCount);
  const step = STEPS.find((each) => each >= minStep);
  const ticks: Tick[] = [];
  if (step === undefined) {
    const days = STEPS_OF_DAYS.find((each) => each * DAY >= minStep) ?? Math.ceil(minStep / DAY);
    const day = new Date(from);
    day.setHours(24, 0, 0, 0);
    for (; day.getTime() <= to; day.setDate(day.getDate() + days)) {
      ticks.push({ at: day.getTime(), label: DATE.format(day), strong: false });
    }
    return ticks;
  }
  const clock = step < MINUTE ? SECONDS : CLOCK;
  for (const at of wholeSteps(from, to, step)) {
    const time = new Date(at);
    const midnight = CLOCK.format(time) === "00:00" && time.getSeconds() === 0;
    ticks.push({ at, label: (midnight ? DATE : clock).format(time), strong: midnight });
  }
  return ticks;
}

/** Times in a range at which the local clock shows a multiple of the step, also across changes of the clock. */
function wholeSteps(from: number, to: number, step: number): number[] {
  const offset = new Date(from).getTimezoneOffset() * MINUTE;
  const found: number[] = [];
  for (let shown = Math.ceil((from - offset) / step) * step; ; shown += step) {
    // A change of the clock by an hour doesn't move steps of an hour or less.
    const at = step > HOUR ? momentOf(shown) : shown + offset;
    if (at !== null && at > to) return found;
    if (at !== null && at >= from) found.push(at);
  }
}

/** The time at which the local clock shows a time, given as if it were UTC; null if the clock skips it. */
function momentOf(shown: number): number | null {
  const wall = new Date(shown);
  const at = new Date(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate(), wall.getUTCHours());
  return at.getHours() === wall.getUTCHours() ? at.getTime() : null;
}
