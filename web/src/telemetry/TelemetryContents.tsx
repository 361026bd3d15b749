// The contents of a telemetry section: facts of the node, OOM kills, GPU memory errors, charts, dropped data.

import type { ComponentChildren } from "preact";
import { formatExactTime } from "../format/dates.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { TimeSpan } from "./Chart.tsx";
import { type ChartLayout, Charts } from "./Charts.tsx";
import { compareNaturally, seriesSetOf } from "./series/charts.ts";
import { droppedText } from "./series/dropped.ts";
import type { NodeFacts, Series, Telemetry } from "./series/model.ts";
import { selectSeries } from "./series/selection.ts";
import { valueText } from "./series/units.ts";

interface TelemetryContentsProps {
  telemetry: Telemetry;
  /** The time (milliseconds since 1970) from which the node is known to have existed. */
  knownSince?: number;
  /** The run that the charts are about, in whole steps. */
  run?: TimeSpan | undefined;
  /** Renders contents below a chart, by its id. */
  beside?: (id: string, layout: ChartLayout) => ComponentChildren;
  below?: (layout: ChartLayout) => ComponentChildren;
}

export function TelemetryContents({ telemetry, ...others }: TelemetryContentsProps) {
  const dropped = droppedText(telemetry.leftOut);
  return (
    <>
      <Facts facts={telemetry.facts} />
      <OomKills telemetry={telemetry} />
      <GpuMemoryErrors telemetry={telemetry} />
      <Charts telemetry={telemetry} {...others} />
      {dropped && (
        <p class="soft" data-testid="left-out">
          {visible(dropped)}
        </p>
      )}
    </>
  );
}

/** Facts that the agent reported when it started. */
function Facts({ facts }: { facts: NodeFacts }) {
  const { cpuModel, cpuCount, vmSize, region, zone, bootedAt, disks } = facts;
  const parts = [
    cpuModel && `${cpuModel}${cpuCount ? `, ${plural(cpuCount, "core")}` : ""}`,
    vmSize,
    region && (zone ? `${region}, zone ${zone}` : region),
    disks.length && `${plural(disks.length, "disk")}: ${disks.map(({ size }) => valueText(size, "bytes")).join(", ")}`,
  ].filter(Boolean);
  if (!parts.length && !bootedAt) return null;
  return (
    <p class="node-facts soft" data-testid="facts">
      <ExternalText text={parts.join(" · ")} />
      {bootedAt && (
        <>
          {parts.length > 0 && " · "}booted <span title={formatExactTime(Date.parse(bootedAt))}><Age at={bootedAt} /></span>
        </>
      )}
    </p>
  );
}

/** Processes that the kernel killed when memory ran out, which a chart of memory rarely shows. */
function OomKills({ telemetry }: { telemetry: Telemetry }) {
  const { times, last } = countEvents(selectSeries(seriesSetOf(telemetry), "batchscope.memory.oom_kills"));
  if (!times) return null;
  return (
    <p class="bad" data-testid="killed">
      {times === 1 ? "1 process was" : `${formatCount(times)} processes were`} killed because memory ran out, most recently{" "}
      <Age at={last} />.
    </p>
  );
}

/** Uncorrectable errors of GPU memory: results of tasks that ran there at the time can't be trusted. */
function GpuMemoryErrors({ telemetry }: { telemetry: Telemetry }) {
  const errors = selectSeries(seriesSetOf(telemetry), "hw.errors", { "hw.type": "gpu", "error.type": "uncorrected" });
  const { times, last } = countEvents(errors);
  if (!times) return null;
  const gpus = [...new Set(errors.filter(({ points }) => points.some(({ sum }) => sum > 0)).map(gpuOf))].sort(
    compareNaturally,
  );
  return (
    <p class="bad" data-testid="damaged">
      {plural(times, "uncorrectable memory error")} on <ExternalText text={gpus.join(", ")} />, most recently{" "}
      <Age at={last} />.
    </p>
  );
}

function gpuOf({ attributes }: Series): string {
  return `GPU ${attributes["hw.id"] ?? ""}`.trimEnd();
}

/** The number of events in counters, and the time of the last one. */
function countEvents(series: Series[]): { times: number; last: string } {
  const points = series.flatMap((each) => each.points).filter(({ sum }) => sum > 0);
  const times = Math.round(points.reduce((all, { sum }) => all + sum, 0));
  return { times, last: points.map(({ time }) => time).sort().at(-1) ?? "" };
}
