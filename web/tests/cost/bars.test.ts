// The bars of the cost chart.

import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, blocksOf, dayTicks, isStriped, maxOf } from "../../src/cost/amounts/bars.ts";
import { CLASSES } from "../../src/cost/amounts/classes.ts";
import { answer, group, sum } from "./answer.ts";

const FIRST = "2026-11-26";
const LAST = "2026-11-29";
const succeeded = (amount: number) => sum({ succeeded: amount });

test("each day of the range has a bar, in UTC", () => {
  const { days } = barsOf(answer({ [LAST]: succeeded(3) }, []));
  assert.deepEqual(
    days.map(({ date }) => date),
    [FIRST, "2026-11-27", "2026-11-28", LAST],
  );
});

test("a day without nodes cost nothing; without stored usage or prices nothing is known of it", () => {
  const unpriced = sum({}, { amount: null, unpricedSeconds: 7200 });
  const { days } = barsOf(answer({ [LAST]: succeeded(3), "2026-11-28": unpriced }, [], { missingDays: [FIRST] }));
  assert.deepEqual(
    days.map(({ total, isMissing, unpricedSeconds }) => [total, isMissing, unpricedSeconds]),
    [
      [null, true, 0],
      [0, false, 0],
      [null, false, 7200],
      [3_000_000, false, 0],
    ],
  );
});

test("the dearest groups are stacked, and the others are the rest of the day's total, exactly", () => {
  const groups = Array.from({ length: 10 }, (_, index) => group(`pool-${index}`, { [LAST]: succeeded(10.1 - index) }));
  const total = groups.reduce((all, { cost }) => all + (cost.amount ?? 0), 0);
  const bars = barsOf(answer({ [LAST]: succeeded(total) }, groups));
  assert.deepEqual(
    bars.parts.map(({ label, fill }) => `${label}: ${fill}`),
    [...[0, 1, 2, 3, 4, 5].map((at) => `pool-${at}: group-${at}`), "4 others: other"],
  );
  const blocks = blocksOf(bars.parts, 3);
  assert.equal(blocks.at(-1)?.to, bars.days[3]?.total);
  assert.equal(blocks.at(-1)?.to, 56_000_000);
  assert.deepEqual(blocksOf(bars.parts, 0), []);
});

test("blocks touch, from the bottom up", () => {
  const groups = [group("a", { [LAST]: succeeded(2) }), group("", { [LAST]: succeeded(0.5) })];
  const { parts } = barsOf(answer({ [LAST]: succeeded(2.5) }, groups));
  assert.deepEqual(
    blocksOf(parts, 3).map(({ part, from, to }) => [part.label, from, to]),
    [
      ["a", 0, 2_000_000],
      ["no pool", 2_000_000, 2_500_000],
    ],
  );
});

test("seven groups need no others", () => {
  const groups = Array.from({ length: 7 }, (_, index) => group(`pool-${index}`, { [LAST]: succeeded(7 - index) }));
  const { parts } = barsOf(answer({ [LAST]: succeeded(28) }, groups));
  assert.deepEqual(parts.at(-1)?.fill, "group-6");
});

test("of classes waste is at the bottom, each with its own colour, and the rare ones together", () => {
  const groups = ["succeeded", "rebooting", "idle", "failed", "leaving"].map((name) =>
    group(name, { [LAST]: sum({ [name]: 1 }) }),
  );
  const { parts } = barsOf(answer({ [LAST]: succeeded(5) }, groups, { groupBy: "class" }));
  assert.deepEqual(
    parts.map(({ label, fill, total }) => [label, fill, total]),
    [
      ["failed runs", "failed", 1_000_000],
      ["idle nodes", "idle", 1_000_000],
      ["succeeded runs", "succeeded", 1_000_000],
      ["2 others", "other", 2_000_000],
    ],
  );
});

test("the scale has room for time that nobody watched", () => {
  const days = { [FIRST]: sum({ idle: 2 }, { uncertainAmount: 5 }), [LAST]: succeeded(6) };
  assert.equal(maxOf(barsOf(answer(days, []))), 7_000_000);
});

test("neighbours in a bar of groups differ by stripes", () => {
  const striped = Array.from({ length: 7 }, (_, index) => isStriped(`group-${index}`));
  assert.ok(striped.every((each, index) => each !== striped[index + 1]));
});

test("no two classes have the same fill", () => {
  const fills = CLASSES.flatMap(({ fill }) => fill ?? []);
  assert.equal(new Set(fills).size, fills.length);
});

test("labels are evenly spaced, with the last day", () => {
  const { days } = barsOf(answer({}, []));
  const labels = (count: number) => dayTicks(days, count).map(({ label }) => label);
  assert.deepEqual(labels(4), ["26 Nov", "27 Nov", "28 Nov", "29 Nov"]);
  assert.deepEqual(labels(2), ["27 Nov", "29 Nov"]);
  assert.deepEqual(labels(0), ["29 Nov"]);
});
