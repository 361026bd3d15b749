// The costs by day: legend with the amounts at the cursor, chart, signs, and the same numbers as a table.

import { useState } from "preact/hooks";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { type CostBars, isStriped } from "./amounts/bars.ts";
import { weekdayText } from "./amounts/days.ts";
import { formatMoney, type Micros } from "./amounts/money.ts";
import { doubtsOf, totalText } from "./amounts/texts.ts";
import { CostChart } from "./CostChart.tsx";
import { DayTable } from "./DayTable.tsx";

interface PanelProps {
  bars: CostBars;
  currency: string;
}

interface CostPanelProps extends PanelProps {
  /** The account's budget for a day, a line in the chart. */
  budget: Micros | null;
}

export function CostPanel({ bars, currency, budget }: CostPanelProps) {
  const [pointed, setCursor] = useState<number | null>(null);
  const { days, parts } = bars;
  const cursor = pointed !== null && pointed < days.length ? pointed : null;
  return (
    <>
      <div class="cost-legend">
        <p class="when" data-testid="cost-readout">
          <Readout bars={bars} currency={currency} cursor={cursor} />
        </p>
        <ul>
          {parts.map(({ label, fill, amounts, total }) => (
            <li key={`${fill} ${label}`}>
              <i class="swatch" data-cost-fill={fill} data-striped={isStriped(fill)} aria-hidden="true" /> <ExternalText text={label} />{" "}
              <Amount value={cursor === null ? total : amounts[cursor]} currency={currency} />
            </li>
          ))}
        </ul>
      </div>
      <CostChart bars={bars} currency={currency} budget={budget} cursor={cursor} point={setCursor} />
      <footer class="key">
        {budget !== null && (
          <span data-testid="budget-line">
            <i class="swatch cost-budget" aria-hidden="true" /> {formatMoney(budget, currency)}, the month's budget for a day
          </span>
        )}
        {days.some(({ uncertain }) => uncertain) && (
          <span>
            <i class="swatch cost-uncertain" aria-hidden="true" /> not watched: costs up to this much more
          </span>
        )}
        {days.some(({ unpricedSeconds }) => unpricedSeconds) && (
          <span>
            <i class="swatch cost-no-price" aria-hidden="true" /> time without a price, in no amount
          </span>
        )}
        {days.some(({ isMissing }) => isMissing) && (
          <span>
            <i class="swatch hatched" aria-hidden="true" /> no usage stored
          </span>
        )}
        <span class="zone">days in UTC</span>
      </footer>
      <DayTable bars={bars} currency={currency} />
    </>
  );
}

/** The day at the cursor, or a hint at the sums. */
function Readout({ bars: { days }, currency, cursor }: PanelProps & { cursor: number | null }) {
  const day = cursor === null ? undefined : days[cursor];
  if (!day) return <>Sums of the range</>;
  return (
    <>
      <b>{weekdayText(day.date)}</b>: {totalText(day, currency)}
      {doubtsOf(day, currency).map((doubt) => `; ${doubt}`)}
    </>
  );
}

/** An amount of the legend; nothing is a dash. */
function Amount({ value = 0, currency }: { value: Micros | undefined; currency: string }) {
  return value ? <b>{formatMoney(value, currency)}</b> : <span class="zero">–</span>;
}
