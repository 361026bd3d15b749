import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOfSchedules, NO_SCHEDULE_FILTERS, passes, readScheduleFilters } from "../../src/schedule/filters.ts";
import { byUrgency, poolOf, type Schedule, type ScheduleDetails } from "../../src/schedule/model.ts";
import { goTo } from "../address.ts";

function schedule(id: string, state = "active", missed: number | null = 0): Schedule {
  return {
    id,
    account: "scope",
    state,
    missedRuns: { count: missed, since: null, until: null, basis: "" },
  } as Schedule;
}

test("live schedules come first, then those with most missed runs, then by id", () => {
  const all = [
    schedule("z", "completed", 9),
    schedule("c"),
    schedule("b", "active", null),
    schedule("a", "active", 2),
    schedule("y", "new"),
  ];
  assert.deepEqual(
    all.sort(byUrgency).map(({ id }) => id),
    ["a", "b", "c", "z", "y"],
  );
});

test("a schedule with unknown missed runs counts as one without any", () => {
  assert.ok(!passes(schedule("a", "active", null), { ...NO_SCHEDULE_FILTERS, missed: "yes" }));
  assert.ok(!passes(schedule("a", "active", 0), { ...NO_SCHEDULE_FILTERS, missed: "yes" }));
  assert.ok(passes(schedule("Nightly", "active", 1), { ...NO_SCHEDULE_FILTERS, missed: "yes", prefix: "night" }));
});

test("a schedule has to pass every filter", () => {
  const filters = { ...NO_SCHEDULE_FILTERS, account: "scope", state: "active" };
  assert.ok(passes(schedule("a"), filters));
  assert.ok(!passes(schedule("a", "completed"), filters));
  assert.ok(!passes(schedule("a"), { ...filters, account: "other" }));
});

test("filters survive the address", () => {
  const filters = { account: "a&b", state: "active", missed: "yes", prefix: "ü" };
  goTo(addressOfSchedules(filters));
  assert.deepEqual(readScheduleFilters(), filters);
});

test("a schedule's pool is known only from a specification that names it", () => {
  const pool = (jobSpecification: ScheduleDetails["jobSpecification"]) => poolOf({ jobSpecification } as ScheduleDetails);
  assert.equal(pool({ poolInfo: { poolId: "gpu" } }), "gpu");
  for (const none of [
    null,
    {},
    { poolInfo: null },
    { poolInfo: ["gpu"] },
    { poolInfo: { poolId: "" } },
    { poolInfo: { poolId: 5 } },
  ]) {
    assert.equal(pool(none), null);
  }
});
