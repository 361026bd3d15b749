// What was measured, with what belongs to it: what the node is, what its kernel had to kill, what isn't in the charts.

import type { ComponentChildren } from "preact";
import { Age } from "../Banner";
import { exactMoment } from "../job/scales";
import { Outside, visible } from "../Outside";
import { count, plural } from "../words";
import type { Span } from "./Chart";
import { Charts, type Place } from "./Charts";
import { leftOutInWords } from "./leftOut";
import type { NodeFacts, Telemetry } from "./model";
import { measured } from "./units";

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
    disks.length && `${plural(disks.length, "disk")} of ${disks.map(({ size }) => measured(size, "bytes")).join(", ")}`,
  ].filter(Boolean);
  if (!told.length && !bootedAt) return null;
  return (
    <p class="node-facts soft" data-testid="facts">
      <Outside text={told.join(" · ")} />
      {bootedAt && (
        <>
          {told.length > 0 && " · "}booted <span title={exactMoment(Date.parse(bootedAt))}><Age at={bootedAt} /></span>
        </>
      )}
    </p>
  );
}

/** Processes that the kernel killed for want of memory: what a chart of memory rarely shows. */
function Killed({ telemetry: { value } }: { telemetry: Telemetry }) {
  const points = value.filter(({ name }) => name === "batchscope.memory.oom_kills").flatMap((series) => series.points);
  const kills = Math.round(points.reduce((sum, point) => sum + point.sum, 0));
  if (!kills) return null;
  const last = points.filter(({ sum }) => sum > 0).reduce((latest, { time }) => (time > latest ? time : latest), "");
  return (
    <p class="bad" data-testid="killed">
      {kills === 1 ? "1 process was" : `${count(kills)} processes were`} killed for want of memory, the last one{" "}
      <Age at={last} />.
    </p>
  );
}
