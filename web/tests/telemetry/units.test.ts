import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, ticksOf, valueText } from "../../src/telemetry/series/units.ts";

const GIB = 1024 ** 3;

test("shares are in percent, with three significant digits", () => {
  assert.deepEqual(
    [0, 0.001234, 0.3721, 1].map((value) => valueText(value, "share")),
    ["0%", "0.12%", "37.2%", "100%"],
  );
});

test("bytes go by 1,024, and to the next unit at a thousand", () => {
  assert.deepEqual(
    [0, 999, 1000, 1024, 1.4 * GIB, 1000 * GIB, 5e20].map((value) => valueText(value, "bytes")),
    ["0 B", "999 B", "0.98 KiB", "1 KiB", "1.4 GiB", "0.98 TiB", "444,089 PiB"],
  );
  assert.equal(valueText(230 * 1024, "bytes a second"), "230 KiB/s");
});

test("negative values have units, too", () => {
  assert.equal(valueText(-2048, "bytes"), "-2 KiB");
  assert.equal(valueText(-5.5, "degrees"), "-5.5 °C");
});

test("plain numbers have no unit", () => {
  assert.equal(valueText(12.345, "number"), "12.3");
  assert.equal(valueText(312.4, "watts"), "312 W");
});

test("an axis of shares goes up to the whole", () => {
  assert.deepEqual(ticksOf(0.01, "share", 2), [0, 0.5, 1]);
});

test("an axis ends at a limit, or above it if a value exceeds it", () => {
  assert.deepEqual(ticksOf(3, "number", 2, 8), [0, 4, 8]);
  assert.deepEqual(ticksOf(9, "number", 2, 8), [0, 5, 10]);
  assert.deepEqual(ticksOf(3, "number", 2, 0), [0, 2, 4]);
});

test("ticks of bytes are round in their own unit", () => {
  assert.deepEqual(ticksOf(1.5 * GIB, "bytes", 2), [0, GIB, 2 * GIB]);
  assert.deepEqual(ticksOf(300 * 1024, "bytes a second", 2), [0, 200 * 1024, 400 * 1024]);
});

test("an idle machine's noise doesn't fill the axis", () => {
  assert.deepEqual(ticksOf(0, "number", 2), [0, 0.5, 1]);
  assert.deepEqual(ticksOf(3, "bytes", 2), [0, 0.5 * 1024, 1024]);
  assert.equal(ticksOf(31, "degrees", 2).at(-1), 50);
});

test("ticks are few, and reach any maximum", () => {
  for (const unit of ["bytes", "watts", "number"] as const) {
    for (const most of [0.07, 1, 999, 1000, 1024, 123_456, 7e9, 3e15]) {
      const ticks = ticksOf(most, unit, 2);
      assert.ok((ticks.at(-1) ?? 0) >= most * (1 - 1e-9), `${most} ${unit}`);
      assert.ok(ticks.length <= 4, `${ticks.length} ticks up to ${most} ${unit}`);
    }
  }
});

test("an axis of any values goes below 0, and its ticks leave room for their texts", () => {
  assert.deepEqual(axisOf(-8, 4, "value", null), { low: -8, high: 5, ticks: [-8, 0, 5] });
  assert.deepEqual(axisOf(-100, 1, "value", null), { low: -100, high: 1, ticks: [-100, 0] });
  assert.deepEqual(axisOf(-3, -1, "value", null), { low: -3, high: 0, ticks: [-3, 0] });
  assert.deepEqual(axisOf(0, 0, "value", null).low, 0);
  assert.ok(axisOf(0, 0.0025, "value", null).high < 0.01);
  assert.deepEqual(axisOf(-0.1, 1, "share", null), { low: 0, high: 1, ticks: [0, 0.5, 1] });
  assert.equal(valueText(0.00251, "value"), "0.0025");
});
