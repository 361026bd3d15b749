// Words of the cost page, its addresses and requests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "../../src/cost/amounts/bars.ts";
import { billedSeconds, classNamed } from "../../src/cost/amounts/classes.ts";
import { addressOfGroup, groupLabel, wordsOf } from "../../src/cost/amounts/groups.ts";
import { hasShares } from "../../src/cost/amounts/model.ts";
import { amountText, dayReadout, forecastText, hoursText, missingText, shareText, totalText } from "../../src/cost/amounts/texts.ts";
import { wasteOf } from "../../src/cost/amounts/waste.ts";
import { addressOfCost, pathOfCost, readCostView } from "../../src/cost/costView.ts";
import { serverClock } from "../../src/time/clock.ts";
import { goTo, parametersOf } from "../address.ts";
import { answer, group, sum } from "./answer.ts";

const LAST = "2026-11-29";

test("the view is in the address, without defaults", () => {
  goTo("?view=cost");
  const view = readCostView();
  assert.deepEqual(view, { account: "", groupBy: "pool", days: 30, sharing: "proportional" });
  assert.equal(addressOfCost(view), "?view=cost");
  const other = { account: "a&b", groupBy: "job", days: 90, sharing: "even" } as const;
  goTo(addressOfCost(other));
  assert.deepEqual(readCostView(), other);
  assert.deepEqual(parametersOf(addressOfCost({ ...other, groupBy: "class" })), {
    view: "cost",
    account: "a&b",
    groupBy: "class",
    range: "90d",
  });
});

test("a label is a grouping, with any characters in its name", () => {
  for (const groupBy of ["metadata:cost center", "tag:a:b&c=d"] as const) {
    const view = { account: "demo", groupBy, days: 30, sharing: "proportional" } as const;
    goTo(addressOfCost(view));
    assert.deepEqual(readCostView(), view);
    assert.equal(new URLSearchParams(pathOfCost("demo", view).split("?")[1]).get("groupBy"), groupBy);
  }
  goTo("?view=cost&groupBy=metadata:");
  assert.equal(readCostView().groupBy, "pool");
  assert.equal(wordsOf("metadata:cost center").noun, "metadata cost center");
  assert.equal(groupLabel("tag:team", ""), "no value");
  assert.equal(addressOfGroup("metadata:team", "demo", "blue"), null);
});

test("only costs by metadata are shared among jobs", () => {
  assert.deepEqual(
    ["pool", "job", "schedule", "metadata:team", "tag:team"].filter(hasShares),
    ["job", "schedule", "metadata:team"],
  );
});

test("unknown parameters are the defaults", () => {
  goTo("?view=cost&groupBy=tag&range=1h&sharing=all");
  assert.deepEqual(readCostView(), { account: "", groupBy: "pool", days: 30, sharing: "proportional" });
});

test("whole days are requested, today's included, and a sharing only among jobs", (context) => {
  context.mock.method(serverClock, "now", () => Date.parse("2026-11-29T23:59:59Z"));
  const view = { account: "", groupBy: "job", days: 7, sharing: "none" } as const;
  assert.equal(
    pathOfCost("one.west", view),
    "/api/accounts/one.west/cost?from=2026-11-23T00%3A00%3A00Z&groupBy=job&sharing=none",
  );
  assert.equal(
    pathOfCost("a/b", { ...view, groupBy: "pool" }),
    "/api/accounts/a%2Fb/cost?from=2026-11-23T00%3A00%3A00Z&groupBy=pool",
  );
});

test("groups lead to their pages, and those without a name or a page to none", () => {
  assert.equal(addressOfGroup("pool", "demo", "gpu"), "?account=demo&pool=gpu");
  assert.equal(addressOfGroup("job", "demo", "a b"), "?account=demo&job=a+b");
  assert.equal(addressOfGroup("schedule", "demo", "nightly"), "?account=demo&schedule=nightly");
  assert.deepEqual(
    [addressOfGroup("job", "demo", ""), addressOfGroup("vmSize", "demo", "a1"), addressOfGroup("class", "demo", "idle")],
    [null, null, null],
  );
});

test("groups without a name and classes are said in words, also classes of later versions", () => {
  const said = ["job", "schedule", "vmSize"].map((groupBy) => groupLabel(groupBy, ""));
  assert.deepEqual(said, ["no job", "no job schedule", "unknown size"]);
  assert.equal(groupLabel("class", "idleSlots"), "idle slots");
  assert.equal(groupLabel("class", "teleporting"), "teleporting");
  assert.equal(groupLabel("pool", "idle"), "idle");
  assert.equal(classNamed("teleporting").waste, undefined);
});

test("waste is in the order of its money, and what has no price comes last", () => {
  const cost = sum({ succeeded: 9, idle: 2, failed: 5 }, { nodeSeconds: { idle: 7200, failed: 60, unusable: 3600 } });
  assert.deepEqual(
    wasteOf(cost).map(({ name, amount, seconds }) => [name, amount, seconds]),
    [
      ["failed", 5, 60],
      ["idle", 2, 7200],
      ["unusable", null, 3600],
    ],
  );
  assert.deepEqual(wasteOf(sum({ succeeded: 1 })), []);
});

test("hours of preempted and deallocated nodes aren't billed", () => {
  assert.equal(billedSeconds({ idle: 60, preempted: 600, deallocated: 600, unwatched: 6 }), 66);
});

test("what isn't known is no number", () => {
  assert.deepEqual([amountText(null, "USD"), amountText(0, "USD")], ["no price", "$0.00"]);
  assert.deepEqual([shareText(1, 4), shareText(0, 0), shareText(1, null)], ["25%", "–", "–"]);
  assert.deepEqual([0, 36, 5400, 3_600_000].map(hoursText), ["0 h", "< 0.1 h", "1.5 h", "1,000 h"]);
});

test("a day is said with its groups and with what isn't in its total", () => {
  const day = sum({ succeeded: 12 }, { uncertainAmount: 3, unpricedSeconds: 7200 });
  const groups = [group("render", { [LAST]: sum({ succeeded: 12 }) }), group("old", { "2026-11-26": sum({ idle: 1 }) })];
  const { days, parts } = barsOf(answer({ [LAST]: day }, groups, { missingDays: ["2026-11-28"] }));
  const readouts = days.map((each, index) => dayReadout(each, parts, index, "USD"));
  assert.equal(
    readouts[3],
    "Sun 29 Nov: $12.00; render $12.00; up to $3.00 more, not watched; 2 h without a price",
  );
  assert.equal(readouts[2], "Sat 28 Nov: no usage stored");
  assert.equal(readouts[1], "Fri 27 Nov: $0.00");
});

test("a day without any price says for how long", () => {
  const cost = sum({}, { amount: null, unpricedSeconds: 7200 });
  const { days, parts } = barsOf(answer({ [LAST]: cost }, []));
  const last = days.at(-1);
  assert.ok(last);
  assert.equal(totalText(last, "USD"), "no price");
  assert.equal(dayReadout(last, parts, 3, "USD"), "Sun 29 Nov: no price; for 2 h of nodes");
});

test("a month has a forecast with its band, or the reason why there is none", () => {
  const forecast = { amount: 90, low: 80.5, high: 1200, days: 7 };
  assert.equal(
    forecastText({ currency: "EUR", month: 60, forecast, missingDays: [], budgets: [] }),
    "about €90.00 by its end, €80.50 to €1,200.00",
  );
  assert.equal(
    forecastText({ currency: "EUR", month: 60, forecast: null, missingDays: [], budgets: [] }),
    "so far; a forecast needs three full days",
  );
  assert.equal(
    forecastText({ currency: "EUR", month: null, forecast: null, missingDays: [], budgets: [] }),
    "not known; a forecast needs three full days",
  );
});

test("missing days are said once, as spans", () => {
  const said = missingText(["2026-11-30", "2026-11-02", "2026-11-01", "2026-11-28", "2026-12-01", "2026-11-28"]);
  assert.equal(said, "No usage is stored for 5 days: 1 Nov to 2 Nov, 28 Nov, 30 Nov to 1 Dec.");
  assert.equal(missingText([]), "");
});
