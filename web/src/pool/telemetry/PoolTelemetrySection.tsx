// The telemetry of a pool's nodes: how many report, and statistics over them as charts.

import { useMemo, useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { ChangeSign } from "../../charts/ChangeMarks.tsx";
import { type ChangeMark, within } from "../../charts/changes.ts";
import { useWidth } from "../../charts/useWidth.ts";
import { formatTime, timeZone } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import { addressOfPoolView, type PoolView } from "../../routing/poolView.ts";
import { Chart, valueAt } from "../../telemetry/Chart.tsx";
import { INTERVALS_MS } from "../../telemetry/paths.ts";
import type { ChartData } from "../../telemetry/series/charts.ts";
import { valueText } from "../../telemetry/series/units.ts";
import { ValuesTable } from "../../telemetry/ValuesTable.tsx";
import { beginOf, type Range } from "../../time/ranges.ts";
import { RangeLinks } from "../../ui/page/RangeLinks.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Id } from "../../ui/text/Id.tsx";
import { latestOf, nodesAt, poolChartsOf, poolTimeGridOf } from "./lines.ts";
import type { PoolTelemetry } from "./model.ts";
import { trafficOf, trafficText } from "./traffic.ts";

const MAX_SILENT = 5; // named

interface PoolTelemetryProps {
  view: PoolView;
  /** Null until the pool's age is known, which decides the default. */
  range: Range | null;
  /** Changes of the pool's settings. */
  changes: readonly ChangeMark[];
}

export function PoolTelemetrySection({ view, range, changes }: PoolTelemetryProps) {
  const { ref, inView } = useInView();
  const path = `${pathOfPool(view, "telemetry")}?from=${encodeURIComponent(beginOf(range ?? "1h"))}`;
  const polled = usePolled<PoolTelemetry>({
    path,
    queryKey: range ?? "",
    intervalMs: INTERVALS_MS[range ?? "1h"],
    enabled: inView && range !== null,
  });
  const actions = (
    <>
      <RangeLinks label="Telemetry range" current={range} addressOf={(each) => addressOfPoolView({ ...view, range: each })} />
      <a class="csv" href={`${path}&format=csv`} download={`${view.pool}-telemetry.csv`} aria-label="Telemetry as CSV">
        CSV
      </a>
    </>
  );
  return (
    <Section title="Telemetry of nodes" name="pool-telemetry" sectionRef={ref} polled={polled} actions={actions}>
      {(telemetry) => (
        <div class="telemetry of-pool">
          <Reporting view={view} nodes={telemetry.nodes} />
          <p class="soft" data-testid="traffic">
            {trafficText(trafficOf(telemetry), "this range")}
          </p>
          <PoolCharts telemetry={telemetry} changes={changes} />
        </div>
      )}
    </Section>
  );
}

/** "38 of 40 nodes report." with the nodes that don't. */
function Reporting({ view, nodes }: { view: PoolView; nodes: PoolTelemetry["nodes"] }) {
  const { listed, reporting, silent, silentNodes } = nodes;
  const shown = silentNodes.slice(0, MAX_SILENT);
  return (
    <p class="soft" data-testid="reporting">
      {formatCount(reporting)} of {plural(listed, "node")} {reporting === 1 ? "reports" : "report"}.
      {silent > 0 && (
        <>
          {" "}
          Silent for more than 5 minutes:{" "}
          {shown.map(({ id, seen }, index) => (
            <span key={id}>
              {index > 0 && ", "}
              <Id text={id} to={addressOfPoolView({ ...view, node: id })} />{" "}
              ({seen ? <Age at={seen} /> : "never reported"})
            </span>
          ))}
          {silent > shown.length && ` and ${formatCount(silent - shown.length)} more`}.
        </>
      )}
    </p>
  );
}

interface PoolChartsProps {
  telemetry: PoolTelemetry;
  changes: readonly ChangeMark[];
}

function PoolCharts({ telemetry, changes }: PoolChartsProps) {
  const { ref, width } = useWidth();
  const [pointed, point] = useState<number | null>(null);
  const charts = useMemo(() => poolChartsOf(telemetry), [telemetry]);
  const time = useMemo(() => poolTimeGridOf(telemetry), [telemetry]);
  const marks = useMemo(() => within(changes, time.from, time.to), [changes, time]);
  const at = pointed !== null && pointed >= time.first && pointed < time.to ? pointed : null;
  const shown = at ?? latestOf(telemetry);
  if (!charts.length) {
    return (
      <p class="nothing" data-testid="no-pool-telemetry">
        No node of this pool has sent telemetry in this range. See “The node agent” in docs/agent.md.
      </p>
    );
  }
  return (
    <div class="measures" data-testid="pool-charts">
      <p class="when" data-testid="pool-moment">
        {at === null ? "Latest values" : formatTime(at)}
        <small>
          {" "}
          · {plural(nodesAt(telemetry, shown), "node")} · {formatSeconds(time.step / 1000)} intervals · times in {timeZone()}
        </small>
      </p>
      <div ref={ref}>
        {charts.map((chart) => (
          <figure key={chart.id} class="measure" data-chart={chart.id}>
            <figcaption>
              <h5>{chart.title}</h5>
              <Legend chart={chart} at={shown} />
            </figcaption>
            <Chart chart={chart} noDataSpans={[]} time={time} width={width} marks={marks} cursor={{ at, point }} />
          </figure>
        ))}
      </div>
      {marks.length > 0 && (
        <ul class="past" aria-label="Changes of settings">
          {marks.map(({ at: changed, text }) => (
            <li key={changed}>
              <ChangeSign />
              <time dateTime={new Date(changed).toISOString()}>{formatTime(changed)}</time>
              <span>
                <ExternalText text={text} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <ValuesTable charts={charts} time={time} />
    </div>
  );
}

function Legend({ chart, at }: { chart: ChartData; at: number }) {
  return (
    <p class="values" data-many="yes">
      {chart.lines.map((line, tone) => {
        const value = valueAt(line, at);
        return (
          <span key={line.name} data-tone={tone}>
            <i class="stroke" aria-hidden="true" />
            {line.name} <b>{value ? valueText(value.mean, chart.unit) : "–"}</b>
          </span>
        );
      })}
    </p>
  );
}
