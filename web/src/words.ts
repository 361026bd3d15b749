// Numbers and spans of time as people read them.

const NUMBERS = new Intl.NumberFormat("en-US");

export function count(value: number): string {
  return NUMBERS.format(value);
}

/** "1 job", "3 jobs". */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** "2 active, 1 disabled". */
export function statesInWords(byState: Record<string, number>): string {
  return Object.entries(byState)
    .map(([state, number]) => `${count(number)} ${state}`)
    .join(", ");
}

/** "12 s", "3 min", "5 h", "2 d"; nothing is younger than now. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** "0.4 s", "12 s", "3 min": how long something took. */
export function duration(milliseconds: number): string {
  return milliseconds < 10_000 ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s` : span(milliseconds);
}

/** "catchingUp" -> "catching up". */
export function spoken(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const RATES = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** "12.4", "1,204"; "–" for what isn't known. */
export function rate(value: number | null): string {
  if (value === null) return "–";
  return value > 0 && value < 0.1 ? "< 0.1" : value >= 100 ? count(Math.round(value)) : RATES.format(value);
}

/** "98.9%"; never 100% or 0% of what is only nearly so. */
export function share(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  if (part && percent < 0.1) return "< 0.1%";
  if (part < whole && percent > 99.9) return "> 99.9%";
  return `${RATES.format(percent)}%`;
}

/** "0.4 s", "12 s", "3 min 20 s", "5 h 12 min", "2 d 3 h": a span of seconds, two units at most. */
export function seconds(value: number): string {
  if (value < 10) return `${RATES.format(value)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  const [large, name, small, rest] =
    whole < 3600 ? [60, "min", 1, "s"] : whole < 86_400 ? [3600, "h", 60, "min"] : [86_400, "d", 3600, "h"];
  const beside = Math.floor((whole % large) / small);
  return `${Math.floor(whole / large)} ${name}${beside ? ` ${beside} ${rest}` : ""}`;
}

/** The same with a capital at its beginning. */
export function begun(words: string): string {
  return words.replace(/^./u, (letter) => letter.toUpperCase());
}
