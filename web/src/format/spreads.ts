// Texts of figures with a spread.

/** The expected figure, and from where to where it may be. */
export interface Spread {
  expected: number;
  low: number;
  high: number;
}

/** "25 h (24 h to 27 h)"; one figure where all three read the same. */
export function spreadText({ expected, low, high }: Spread, text: (value: number) => string): string {
  const [middle, from, to] = [text(expected), text(low), text(high)];
  return from === middle && to === middle ? middle : `${middle} (${from} to ${to})`;
}
