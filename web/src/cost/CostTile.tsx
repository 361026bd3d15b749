// The tile with an account's costs: of the range, of today, yesterday and the month, wasted, and how much time has no price.

import { plural } from "../format/numbers.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import type { CostDay } from "./amounts/bars.ts";
import { weekdayText } from "./amounts/days.ts";
import type { AccountCost, CostSummary } from "./amounts/model.ts";
import { formatMoney, microsOf } from "./amounts/money.ts";
import { amountText, forecastText, hoursText, missingText, shareText, totalText } from "./amounts/texts.ts";

interface TileProps {
  cost: AccountCost;
  days: readonly CostDay[];
  /** Null until it is read. */
  summary: CostSummary | null;
}

export function CostTile({ cost, days, summary }: TileProps) {
  const { account, asOf, currency, cost: sum } = cost;
  const yesterday = days.at(-2);
  const isKnown = sum.amount !== null && days.some(({ total }) => total !== null);
  return (
    <article class="tile cost-tile" data-testid="cost-tile">
      <header>
        <h2>
          <ExternalText text={account} />
        </h2>
        <p class="fresh">{asOf ? <>as of <Age at={asOf} /></> : "no usage stored yet"}</p>
      </header>
      <dl class="numbers">
        <KeyFigure
          name="Total"
          value={isKnown ? formatMoney(microsOf(sum.amount ?? 0), currency) : null}
          detail={`${plural(days.length, "day")}, today included`}
        />
        <DayFigure name="Today" day={days.at(-1)} currency={currency} detail="so far" />
        <DayFigure name="Yesterday" day={yesterday} currency={currency} detail={yesterday ? weekdayText(yesterday.date) : ""} />
        <KeyFigure
          name="Month"
          value={summary && summary.month !== null ? formatMoney(microsOf(summary.month), summary.currency) : null}
          detail={summary ? forecastText(summary) : ""}
        />
        <KeyFigure
          name="Wasted"
          value={isKnown ? formatMoney(microsOf(sum.wastedAmount ?? 0), currency) : null}
          detail={sum.amount ? `${shareText(sum.wastedAmount ?? 0, sum.amount)} of the total` : ""}
        />
        <KeyFigure name="Without price" value={asOf && hoursText(sum.unpricedSeconds)} detail="of nodes, in no amount" />
      </dl>
      <p class="soft" data-testid="cost-basis">
        Estimated from list prices, or your own where you set them; not the bill. Days are those of UTC.{" "}
        {sum.uncertainAmount !== null && sum.uncertainAmount > 0 && `Time that nobody watched costs up to ${amountText(sum.uncertainAmount, currency)} more. `}
        {missingText([...cost.missingDays, ...(summary?.missingDays ?? [])])}
      </p>
    </article>
  );
}

interface DayFigureProps {
  name: string;
  day: CostDay | undefined;
  currency: string;
  /** The detail of a known amount. */
  detail: string;
}

function DayFigure({ name, day, currency, detail }: DayFigureProps) {
  const isKnown = day && day.total !== null;
  const text = day ? totalText(day, currency) : "";
  return <KeyFigure name={name} value={isKnown ? text : null} detail={isKnown ? detail : text} />;
}
