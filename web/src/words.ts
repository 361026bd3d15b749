// Numbers and spans of time as people read them.

const NUMBERS = new Intl.NumberFormat("en-US");

export function count(value: number): string {
  return NUMBERS.format(value);
}

/** "1 job", "3 jobs". */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
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
