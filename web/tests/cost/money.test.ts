// Money in whole millionths, and its texts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMoney, formatMoneyTick, microsOf } from "../../src/cost/amounts/money.ts";

test("amounts of the API add up without errors of floating point", () => {
  const amounts = Array.from({ length: 1000 }, () => microsOf(0.1));
  assert.equal(
    amounts.reduce((sum, amount) => sum + amount, 0),
    microsOf(100),
  );
  assert.equal(microsOf(1_234_567.891_234), 1_234_567_891_234);
});

test("money has its currency, and the decimals of its coins", () => {
  const said = ["USD", "EUR", "CHF", "JPY"].map((currency) => formatMoney(1_234_560_000, currency));
  assert.deepEqual(said, ["$1,234.56", "€1,234.56", "CHF\u00a01,234.56", "¥1,235"]);
});

test("less than a coin isn't nothing", () => {
  assert.equal(formatMoney(1, "USD"), "< $0.01");
  assert.equal(formatMoney(9_999, "USD"), "< $0.01");
  assert.equal(formatMoney(10_000, "USD"), "$0.01");
  assert.equal(formatMoney(0, "USD"), "$0.00");
  assert.equal(formatMoney(999_999, "JPY"), "< ¥1");
});

test("a currency without a code stands behind the number", () => {
  assert.equal(formatMoney(2_500_000, "credits"), "2.50 credits");
  assert.equal(formatMoney(2_500_000, ""), "2.50");
});

test("ticks of an axis are short", () => {
  const ticks = [0, 2_000, 500_000, 2_500_000, 250_000_000, 2_500_000_000];
  const said = ticks.map((tick) => formatMoneyTick(tick, "USD"));
  assert.deepEqual(said, ["$0", "$0.002", "$0.50", "$2.50", "$250", "$2.5K"]);
  assert.equal(formatMoneyTick(5_000_000_000, "JPY"), "¥5K");
});
