import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsOf } from "../../src/ui/findings/commands.ts";

test("commands with their options are found in advice", () => {
  const advice =
    "Let it take no more tasks: az batch node scheduling disable --pool-id=gpu --node-id=tvm-1_d; then remove it: " +
    "az batch node delete --pool-id=gpu --node-list=tvm-1_d";
  assert.deepEqual(commandsOf(advice), [
    "az batch node scheduling disable --pool-id=gpu --node-id=tvm-1_d",
    "az batch node delete --pool-id=gpu --node-list=tvm-1_d",
  ]);
  assert.deepEqual(commandsOf("Enable it: az batch job enable --job-id a.b:job-1."), [
    "az batch job enable --job-id a.b:job-1",
  ]);
});

test("a command without options, or with a value that needs quotes, isn't offered", () => {
  const advices = [
    "Evaluate it first (az batch pool autoscale evaluate).",
    "az batch node delete --pool-id='a; rm -rf ~' --node-list=n1",
    "az batch node delete --node-list=n1 --pool-id='a b'",
    "az batch node delete --node-list=n1$(reboot)",
    "az batch node delete --node-list=n1'x'",
  ];
  for (const advice of advices) assert.deepEqual(commandsOf(advice), [], advice);
});
