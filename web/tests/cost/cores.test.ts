// Mean cores by day, from seconds of cores.

import assert from "node:assert/strict";
import { test } from "node:test";
import { coresOf, coresText } from "../../src/cost/amounts/cores.ts";
import { answer, sum } from "./answer.ts";

const HALF_DAY = 43_200;

test("a whole day's mean is over its 24 hours, today's over the time so far", () => {
  const days = {
    "2026-11-27": sum({}, { coreSeconds: 40 * 86_400, busyCoreSeconds: 10 * 86_400 }),
    "2026-11-29": sum({}, { coreSeconds: 8 * HALF_DAY, busyCoreSeconds: 8 * HALF_DAY }),
  };
  const history = coresOf(answer(days, [], { missingDays: ["2026-11-28"] }));
  assert.deepEqual(
    history.value.map(({ cores }) => cores),
    [{ total: 0, busy: 0 }, { total: 40, busy: 10 }, null, { total: 8, busy: 8 }],
  );
  assert.equal(history.value[3]?.time, "2026-11-30T00:00:00.000Z");
});

test("days after the last roll-up are no points", () => {
  const history = coresOf(answer({}, [], { asOf: "2026-11-27T06:00:00Z" }));
  assert.equal(history.value.length, 2);
  assert.equal(coresOf(answer({}, [], { asOf: null })).value.length, 0);
});

test("a day in words has both numbers and the share", () => {
  const time = "2026-11-30T00:00:00.000Z";
  assert.equal(
    coresText({ time, exact: true, cores: { total: 40, busy: 10 } }),
    "Sun 29 Nov: 10 of 40 cores busy in the mean, 25%",
  );
  assert.equal(coresText({ time, exact: true, cores: { total: 0, busy: 0 } }), "Sun 29 Nov: 0 of 0 cores busy in the mean");
  assert.equal(coresText({ time, exact: null, cores: null }), "Sun 29 Nov: no usage stored");
});
