import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf } from "../../src/charts/history.ts";
import { countsOf, groupsIn, pointDetails, pointText, targetOf } from "../../src/pool/history.ts";
import type { PoolPoint } from "../../src/pool/model.ts";

function point(change: Partial<PoolPoint>): PoolPoint {
  return {
    time: "2026-11-21T12:00:00Z",
    asOf: null,
    exact: true,
    nodeCounts: { idle: 1 },
    target: null,
    current: null,
    slots: null,
    cores: null,
    tasks: null,
    preempted: null,
    resizeErrors: null,
    waitedSeconds: null,
    ...change,
  };
}

function series(...value: PoolPoint[]) {
  return seriesOf({ from: "2026-11-21T11:00:00Z", to: "2026-11-21T12:00:00Z", step: "PT1M", value }, countsOf);
}

test("a point says how long tasks waited and for what, the longest first", () => {
  const waited = point({ waitedSeconds: { poolEmpty: 90, slotsBusy: 5400 } });
  assert.ok(pointDetails(waited).includes("tasks waited 1 h 30 min (slots busy), 1 min 30 s (pool empty)"));
  for (const waitedSeconds of [{}, null]) assert.ok(!pointDetails(point({ waitedSeconds })).includes("waited"));
});

test("a target is the sum of its known parts, and unknown if none is known", () => {
  assert.equal(targetOf(point({ target: { dedicated: 2, spot: 3 } })), 5);
  assert.equal(targetOf(point({ target: { dedicated: null, spot: 3 } })), 3);
  assert.equal(targetOf(point({ target: { dedicated: 0, spot: 0 } })), 0);
  assert.equal(targetOf(point({ target: { dedicated: null, spot: null } })), null);
  assert.equal(targetOf(point({})), null);
});

test("states are drawn by group, and a step without a poll has no counts", () => {
  const drawn = series(point({ nodeCounts: { creating: 2, rebooting: 1, running: 4 } }), point({ nodeCounts: null }));
  assert.deepEqual([drawn.value[0]?.counts?.starting, drawn.value[0]?.counts?.running], [3, 4]);
  assert.equal(drawn.value[1]?.counts, null);
  assert.deepEqual(groupsIn(drawn), ["running", "starting"]);
});

test("a history without any nodes still has a group to choose", () => {
  assert.deepEqual(groupsIn(series()), ["idle"]);
  assert.deepEqual(groupsIn(series(point({ nodeCounts: {} }))), ["idle"]);
});

test("a point's details have its numbers besides states, without zero and unknown ones", () => {
  assert.equal(pointDetails(point({})), "21 Nov, 13:00");
  assert.equal(
    pointDetails(
      point({
        exact: null,
        target: { dedicated: 0, spot: 0 },
        slots: { total: 1200, used: 4, free: 1196 },
        cores: { total: 64, busy: 0.04 },
        preempted: 1,
        resizeErrors: 0,
      }),
    ),
    "21 Nov, 13:00 · target 0 · 4 of 1,200 slots · < 0.1 of 64 cores · 1 interruption · not confirmed as exact",
  );
});

test("a point's text has its states, and says so if it wasn't polled", () => {
  assert.equal(
    pointText(point({ nodeCounts: { creating: 2, running: 4 } })),
    "21 Nov, 13:00: 4 running, 2 starting",
  );
  assert.equal(pointText(point({ nodeCounts: {} })), "21 Nov, 13:00: no nodes");
  assert.equal(pointText(point({ nodeCounts: null })), "21 Nov, 13:00, not polled");
  assert.equal(pointText(undefined), "");
});
