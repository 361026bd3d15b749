// Used shares and waste of groups over the last weeks: choice of a resource, legend, chart, and the same as a table.

import { useState } from "preact/hooks";
import { pathOfAccount } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { serverClock } from "../../time/clock.ts";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { isStriped } from "../amounts/bars.ts";
import { jobGroupingOf } from "./groupings.ts";
import type { AccountEfficiency } from "./model.ts";
import { WeekChart } from "./WeekChart.tsx";
import { WeekTable } from "./WeekTable.tsx";
import { firstWeekAt, knownResources, latestWeek, RESOURCES, type Resource, WEEKS, wastedText, weekShareText, weeksOf, weekText } from "./weeks.ts";

const INTERVAL_MS = 300_000;

export function WeekPanel({ account, groupBy }: { account: string; groupBy: string }) {
  const query = new URLSearchParams({ from: firstWeekAt(serverClock.now()), groupBy: jobGroupingOf(groupBy), step: "P7D" });
  const path = `${pathOfAccount(account, "efficiency")}?${query}`;
  const polled = usePolled<AccountEfficiency>({ path, intervalMs: INTERVAL_MS });
  return (
    <PolledContents polled={polled} name="efficiency-weeks" title="Efficiency by week">
      {(efficiency) => <Weeks efficiency={efficiency} groupBy={groupBy} />}
    </PolledContents>
  );
}

function Weeks({ efficiency, groupBy }: { efficiency: AccountEfficiency; groupBy: string }) {
  const [chosen, choose] = useState<Resource>("cpu");
  const [pointed, setCursor] = useState<number | null>(null);
  const resources = knownResources(efficiency);
  const resource = resources.includes(chosen) ? chosen : (resources[0] ?? "cpu");
  const weekly = weeksOf(efficiency, groupBy, resource);
  const { weeks, groups } = weekly;
  if (!groups.length) return null;
  const cursor = pointed !== null && pointed < weeks.length ? pointed : null;
  const shown = cursor ?? latestWeek(weekly);
  const week = weeks[shown];
  return (
    <div data-testid="efficiency-weeks">
      <h4 class="waste-part">
        By week <small>the last {WEEKS} weeks, as far as runs were measured</small>
      </h4>
      {resources.length > 1 && (
        <div class="choices week-choices" role="group" aria-label="Used shares">
          {RESOURCES.filter(([name]) => resources.includes(name)).map(([name, label]) => (
            <button key={name} type="button" aria-pressed={name === resource} onClick={() => choose(name)}>
              {label}
            </button>
          ))}
        </div>
      )}
      <div class="cost-legend">
        <p class="when" data-testid="week-readout">
          {week && <b>{weekText(week)}</b>}: used of what slots offer, and wasted
        </p>
        <ul>
          {groups.map(({ label, fill, shares, wasted }) => (
            <li key={fill}>
              <i class="swatch" data-cost-fill={fill} data-striped={isStriped(fill)} aria-hidden="true" /> <ExternalText text={label} />{" "}
              <b>{weekShareText(shares[shown])}</b>, {wastedText(wasted[shown], efficiency.currency)}
            </li>
          ))}
        </ul>
      </div>
      <WeekChart weekly={weekly} currency={efficiency.currency} cursor={cursor} point={setCursor} />
      <footer class="key">
        <span class="zone">weeks in UTC; a week with fewer than 20 measured runs has no share</span>
      </footer>
      <WeekTable weekly={weekly} currency={efficiency.currency} />
    </div>
  );
}
