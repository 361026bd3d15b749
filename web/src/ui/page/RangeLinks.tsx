// Links to the ranges of a history or of charts.

import { Link } from "../../routing/Link.tsx";
import { RANGE_LABELS, RANGES, type Range } from "../../time/ranges.ts";

interface RangeLinksProps {
  label: string;
  current: Range | null;
  addressOf: (range: Range) => string;
  mode?: "push" | "replace";
}

export function RangeLinks({ label, current, addressOf, mode = "push" }: RangeLinksProps) {
  return (
    <nav class="ranges" aria-label={label}>
      {RANGES.map((range) => (
        <Link key={range} to={addressOf(range)} current={range === current} mode={mode}>
          {RANGE_LABELS[range]}
        </Link>
      ))}
    </nav>
  );
}
