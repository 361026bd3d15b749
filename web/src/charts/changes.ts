// Moments at which settings changed, for marks in charts.

/** A moment in milliseconds since 1970, and its changes as text. */
export interface ChangeMark {
  at: number;
  text: string;
}

/** The marks of a range in milliseconds since 1970, with both ends. */
export function within(marks: readonly ChangeMark[], from: number, to: number): ChangeMark[] {
  return marks.filter(({ at }) => at >= from && at <= to);
}
