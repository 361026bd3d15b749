import assert from "node:assert/strict";
import { test } from "node:test";
import { chartsOf, compareNaturally } from "../../src/telemetry/series/charts.ts";
import { customBeyond, MAX_CUSTOM_CHARTS } from "../../src/telemetry/series/custom.ts";
import { droppedText } from "../../src/telemetry/series/dropped.ts";
import type { DroppedCounts, Series } from "../../src/telemetry/series/model.ts";
import {
  fileSystemUsage,
  latestMaximum,
  realNetworks,
  selectSeries,
  wholeDisks,
} from "../../src/telemetry/series/selection.ts";

const GIB = 1024 ** 3;
const NONE: DroppedCounts = {
  records: 10,
  refused: 0,
  withoutTime: 0,
  outOfWindow: 0,
  ofTooManyNodes: 0,
  ofTooManyTasks: 0,
  unreadFields: 7,
  beyondLimit: 0,
  late: 0,
  noNumbers: 0,
  unknown: {},
};

/** A series of one step whose values are all the same. */
function gauge(name: string, value: number, attributes: Record<string, string> = {}): Series {
  const point = { time: "2026-11-21T12:00:00Z", count: 6, min: value, max: value, sum: 6 * value, last: value };
  return { name, attributes, unit: "1", kind: "gauge", points: [point] };
}

function measures(...series: Series[]) {
  return { series, step: 60_000 };
}

function devices(...names: string[]): Series[] {
  return names.map((name) => gauge("system.disk.io_time", 0.5, { "system.device": name }));
}

function names(series: Series[], by: string): (string | undefined)[] {
  return series.map(({ attributes }) => attributes[by]);
}

test("without data there are no charts", () => {
  assert.deepEqual(chartsOf(measures()), []);
  assert.deepEqual(chartsOf(measures({ ...gauge("system.memory.usage", 1), points: [] })), []);
});

test("CPU usage is the share of time that isn't idle", () => {
  const [cpu] = chartsOf(measures(gauge("system.cpu.utilization", 0.25, { "cpu.mode": "idle" })));
  assert.deepEqual([cpu?.id, cpu?.lines[0]?.values[0]?.mean], ["cpu", 0.75]);
});

test("memory is shown below its limit", () => {
  const used = gauge("system.memory.usage", 4 * GIB, { "system.memory.state": "used" });
  const [memory] = chartsOf(measures(used, gauge("system.memory.limit", 16 * GIB)));
  assert.deepEqual([memory?.id, memory?.limit, memory?.lines[0]?.values[0]?.mean], ["memory", 16 * GIB, 4 * GIB]);
});

test("swap is shown only if any is in use", () => {
  const swap = (value: number) => gauge("system.paging.usage", value, { "system.paging.state": "used" });
  assert.deepEqual(chartsOf(measures(swap(0))), []);
  assert.deepEqual(
    chartsOf(measures(swap(1))).map(({ id }) => id),
    ["swap"],
  );
});

test("a few GPUs have a line each in the order of their numbers; of many the mean, the hot and the idle one", () => {
  const gpus = (...ids: string[]) =>
    measures(
      ...ids.map((id) =>
        gauge("hw.gpu.utilization", Number(id), { "hw.type": "gpu", "hw.gpu.task": "general", "hw.id": id }),
      ),
    );
  const lines = (...ids: string[]) => chartsOf(gpus(...ids)).flatMap((chart) => chart.lines.map(({ name }) => name));
  assert.deepEqual(lines("10", "2", "0"), ["GPU 0", "GPU 2", "GPU 10"]);
  assert.equal(lines("0", "1", "2", "3").length, 4);
  assert.deepEqual(lines("0", "4", "1", "3", "2"), ["mean of 5", "highest: GPU 4", "lowest: GPU 0"]);
  assert.equal(chartsOf(gpus("0", "1", "2", "3", "4", "5"))[0]?.lines[0]?.values[0]?.mean, 2.5);
  const membersOf = (...ids: string[]) => chartsOf(gpus(...ids))[0]?.members?.map(({ name }) => name);
  assert.deepEqual(membersOf("0", "10", "1", "3", "2"), ["GPU 0", "GPU 1", "GPU 2", "GPU 3", "GPU 10"]);
  assert.equal(membersOf("0", "1"), undefined);
});

test("without memory in use it is what isn't available, or else what is free", () => {
  const [limit, available] = [gauge("system.memory.limit", 16 * GIB), gauge("system.memory.linux.available", 4 * GIB)];
  const free = gauge("system.memory.usage", 3 * GIB, { "system.memory.state": "free" });
  const line = (...series: Series[]) => {
    const [memory] = chartsOf(measures(...series));
    return [memory?.lines[0]?.name, memory?.lines[0]?.values[0]?.mean];
  };
  assert.deepEqual(line(limit, available, free), ["in use", 12 * GIB]);
  assert.deepEqual(line(free), ["free", 3 * GIB]);
});

test("metrics that the catalog lacks have charts of their own, with their units and the highest series first", () => {
  const loss = (run: string, value: number) => gauge("custom.training.loss", value, { run });
  const charts = chartsOf(
    measures(
      { ...gauge("custom.wait", 3), unit: "ms" },
      { ...gauge("custom.hits_total", 3), unit: "{hit}", kind: "counter" },
      { ...gauge("custom.queue", 3), unit: "By" },
      loss("a", 1),
      loss("b", -2),
      loss("c", 5),
      loss("d", 2),
      loss("e", 3),
    ),
  );
  assert.deepEqual(
    charts.map(({ title, unit, lines }) => [title, unit, lines.map(({ name }) => name)]),
    [
      ["hits_total (hit per second)", "value", ["value"]],
      ["queue", "bytes", ["value"]],
      ["training.loss", "value", ["c", "e", "d", "a"]],
      ["wait (ms)", "value", ["value"]],
    ],
  );
  assert.equal(charts[2]?.lineCount, 5);
});

test("custom metrics beyond a number aren't drawn but counted", () => {
  const set = measures(...Array.from({ length: MAX_CUSTOM_CHARTS + 3 }, (_, index) => gauge(`custom.m${index}`, index)));
  assert.equal(chartsOf(set).length, MAX_CUSTOM_CHARTS);
  assert.equal(customBeyond(set), 3);
  assert.equal(customBeyond(measures(gauge("custom.m", 1))), 0);
});

test("throttling of GPUs is shown by its reason, and only if there was any", () => {
  const slowed = (reason: string, value: number) =>
    gauge("batchscope.gpu.throttled_time", value, { "hw.type": "gpu", "batchscope.gpu.throttle.reason": reason });
  const [chart, ...others] = chartsOf(measures(slowed("thermal", 0.5), slowed("power_cap", 0), slowed("new", 1)));
  assert.deepEqual(
    [chart?.id, chart?.lines.map(({ name }) => name), others],
    ["gpu-throttled", ["new", "thermal"], []],
  );
});

test("a part of a GPU shows its temperature only if the whole GPU has none", () => {
  const sensor = (id: string, at: string | null, value: number) =>
    gauge("hw.temperature", value, { "hw.type": "gpu", "hw.id": id, ...(at && { "hw.sensor_location": at }) });
  const [chart] = chartsOf(
    measures(sensor("0", null, 60), sensor("0", "edge", 50), sensor("0", "memory", 80), sensor("1", "edge", 51)),
  );
  assert.deepEqual(
    chart?.lines.map(({ name, values }) => [name, values[0]?.mean]),
    [
      ["GPU 0", 60],
      ["GPU 1", 51],
    ],
  );
});

test("series that an agent aggregated count only if it sent no samples", () => {
  const single = gauge("x", 1);
  const summed = gauge("x", 2, { "batchscope.source": "rollup" });
  assert.deepEqual(selectSeries(measures(single, summed), "x"), [single]);
  assert.deepEqual(selectSeries(measures(summed), "x"), [summed]);
  assert.deepEqual(selectSeries(measures(single), "y"), []);
});

test("parts of a disk, and disks made of others, aren't counted beside it", () => {
  assert.deepEqual(names(wholeDisks(devices("sda", "sda1", "sda15", "dm-0", "md127", "loop3")), "system.device"), [
    "sda",
  ]);
  assert.deepEqual(names(wholeDisks(devices("nvme0n1", "nvme0n1p1", "nvme1n1")), "system.device"), [
    "nvme0n1",
    "nvme1n1",
  ]);
});

test("parts of a disk count if there are only parts", () => {
  assert.deepEqual(names(wholeDisks(devices("dm-0")), "system.device"), ["dm-0"]);
  assert.deepEqual(wholeDisks([]), []);
});

test("networks within the machine, and hardware below its interface, aren't counted", () => {
  const series = ["lo", "eth0", "enP53091s1", "docker0", "veth12ab", "ib0"].map((name) =>
    gauge("x", 1, { "network.interface.name": name }),
  );
  assert.deepEqual(names(realNetworks(series), "network.interface.name"), ["eth0", "ib0"]);
});

test("file systems are in the order of their usage, without virtual ones", () => {
  const usage = (mount: string, state: string, value: number, type = "ext4") =>
    gauge("system.filesystem.usage", value, {
      "system.filesystem.mountpoint": mount,
      "system.filesystem.state": state,
      "system.filesystem.type": type,
    });
  const lines = fileSystemUsage(
    measures(
      usage("/", "used", 1),
      usage("/", "free", 3),
      usage("/data", "used", 9),
      usage("/data", "free", 1),
      usage("/tmp", "used", 5, "tmpfs"),
    ),
  );
  assert.deepEqual(
    lines.map(({ name, values }) => [name, values[0]?.mean]),
    [
      ["/data", 0.9],
      ["/", 0.25],
    ],
  );
});

test("a file system of unknown size isn't shown", () => {
  const used = gauge("system.filesystem.usage", 1, {
    "system.filesystem.mountpoint": "/",
    "system.filesystem.state": "used",
  });
  assert.deepEqual(fileSystemUsage(measures(used)), []);
});

test("without used space a file system is as full as its free space says", () => {
  const free = (name: string, mount: string, value: number) =>
    gauge(name, value, { "system.filesystem.mountpoint": mount, "system.filesystem.state": "free" });
  const limit = gauge("system.filesystem.limit", 4, { "system.filesystem.mountpoint": "/" });
  const lines = fileSystemUsage(
    measures(free("system.filesystem.usage", "/", 1), limit, free("system.filesystem.utilization", "C:", 0.875)),
  );
  assert.deepEqual(
    lines.map(({ name, values }) => [name, values[0]?.mean]),
    [
      ["/", 0.75],
      ["C:", 0.125],
    ],
  );
});

test("a capacity is its latest reported value", () => {
  assert.equal(latestMaximum(measures(gauge("system.memory.limit", 16)), "system.memory.limit"), 16);
  assert.equal(latestMaximum(measures(), "system.memory.limit"), null);
});

test("numbers within names count as numbers", () => {
  assert.deepEqual(["10", "9", "GPU 2", "GPU 10", ""].sort(compareNaturally), ["", "9", "10", "GPU 2", "GPU 10"]);
});

test("the text on dropped data is empty if only fields without a series were dropped", () => {
  assert.equal(droppedText(NONE), "");
});

test("dropped data are listed by reason, and unknown names by their number", () => {
  assert.equal(
    droppedText({ ...NONE, records: 12_000, refused: 3, late: 1, unknown: { a: 1, b: 9, c: 2, d: 1, e: 1 } }),
    "Not charted, out of 12,000 records: 3 unreadable; 1 out of order for a counter; 14 of measurements without numbers (“b”, “c”, “a” and 2 others).",
  );
});
