// What was measured, with what belongs to it: what the node is, what its kernel had to kill, what isn't in the charts.

import type { ComponentChildren } from "preact";
import { exactMoment } from "../format/dates.ts";
import { count, plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Span } from "./Chart.tsx";
import { Charts, type Place } from "./Charts.tsx";
import { inOrder, measuresOf } from "./series/charts.ts";
import { leftOutInWords } from "./series/leftOut.ts";
import type { NodeFacts, Series, Telemetry } from "./series/model.ts";
import { found } from "./series/picking.ts";
import { measured } from "./series/units.ts";

interface MeasuredProps {
  telemetry: Telemetry;
  /** Before this moment (milliseconds since 1970) there was nothing to measure, as far as is known. */
  begun?: number;
  /** What the charts are about, in whole steps. */
  run?: Span | undefined;
  /** Beside a chart, by its id. */
  beside?: (id: string, place: Place) => ComponentChildren;
  below?: (place: Place) => ComponentChildren;
}

export function Measured({ telemetry, ...others }: MeasuredProps) {
  const leftOut = leftOutInWords(telemetry.leftOut);
  return (
    <>
      <Facts facts={telemetry.facts} />
      <Killed telemetry={telemetry} />
      <Damaged telemetry={telemetry} />
      <Charts telemetry={telemetry} {...others} />
      {leftOut && (
        <p class="soft" data-testid="left-out">
          {visible(leftOut)}
        </p>
      )}
    </>
  );
}

/** What the agent told when it began. */
function Facts({ facts }: { facts: NodeFacts }) {
  const { cpuModel, cpuCount, vmSize, region, zone, bootedAt, disks } = facts;
  const told = [
    cpuModel && `${cpuModel}${cpuCount ? `, ${plural(cpuCount, "core")}` : ""}`,
    vmSize,
    region && (zone ? `${region}, zone ${zone}` : region),
    disks.length && `${plural(disks.length, "disk")}: ${disks.map(({ size }) => measured(size, "bytes")).join(", ")}`,
  ].filter(Boolean);
  if (!told.length && !bootedAt) return null;
  return (
    <p class="node-facts soft" data-testid="facts">
      <ExternalText text={told.join(" · ")} />
      {bootedAt && (
        <>
          {told.length > 0 && " · "}booted <span title={exactMoment(Date.parse(bootedAt))}><Age at={bootedAt} /></span>
        </>
      )}
    </p>
  );
}

/** Processes that the kernel killed for want of memory: what a chart of memory rarely shows. */
function Killed({ telemetry }: { telemetry: Telemetry }) {
  const { times, last } = happened(found(measuresOf(telemetry), "batchscope.memory.oom_kills"));
  if (!times) return null;
  return (
    <p class="bad" data-testid="killed">
      {times === 1 ? "1 process was" : `${count(times)} processes were`} killed because memory ran out, most recently{" "}
      <Age at={last} />.
    </p>
  );
}

/** Errors of GPUs' memory that cost data: what ran there at the time can't be trusted. */
function Damaged({ telemetry }: { telemetry: Telemetry }) {
  const errors = found(measuresOf(telemetry), "hw.errors", { "hw.type": "gpu", "error.type": "uncorrected" });
  const { times, last } = happened(errors);
  if (!times) return null;
  const gpus = [...new Set(errors.filter(({ points }) => points.some(({ sum }) => sum > 0)).map(gpuOf))].sort(inOrder);
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

/** How often something happened that counters tell, and when last. */
function happened(series: Series[]): { times: number; last: string } {
  const points = series.flatMap((each) => each.points).filter(({ sum }) => sum > 0);
  const times = Math.round(points.reduce((all, { sum }) => all + sum, 0));
  return { times, last: points.map(({ time }) => time).sort().at(-1) ?? "" };
}
