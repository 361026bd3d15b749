// The statistics of a job: throughput, estimated end, waits, run times, retries, slots.

import type { ComponentChildren } from "preact";
import type { Estimate, JobStatistics, Quantiles, Throughput } from "../api/model.ts";
import { formatTime } from "../format/dates.ts";
import { formatSeconds } from "../format/durations.ts";
import { formatCount, formatRate, plural } from "../format/numbers.ts";
import { serverClock } from "../time/clock.ts";
import { useTick } from "../time/useTick.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";

export function StatisticsTiles({ statistics }: { statistics: JobStatistics | null }) {
  if (!statistics) {
    return <p class="card nothing-yet">Throughput and durations appear once all tasks of this job have been read.</p>;
  }
  return (
    <dl class="statistics" aria-label="Statistics">
      <ThroughputTile throughput={statistics.throughput} />
      <EstimateTile estimate={statistics.estimate} />
      <DurationTile
        title="Wait in queue"
        name="queue-wait"
        quantiles={statistics.queueWait}
        none="No task has finished its first run yet."
        note="interrupted runs on preempted or lost nodes count as waiting"
      />
      <DurationTile title="Run time" name="run-time" quantiles={statistics.runTime} none="No task has finished yet." />
      <RetriesTile statistics={statistics} />
      <SlotsTile statistics={statistics} />
    </dl>
  );
}

interface TileProps {
  title: string;
  name: string;
  lead: ComponentChildren;
  unit?: string;
  /** Whether there is no value; the tile's lead is faint then. */
  isEmpty?: boolean;
  children?: ComponentChildren;
}

function Tile({ title, name, lead, unit, isEmpty = false, children }: TileProps) {
  return (
    <div class="card statistic" data-testid={`insight-${name}`}>
      <dt>{title}</dt>
      <dd class={isEmpty ? "lead none" : "lead"}>
        {lead}
        {unit && <small> {unit}</small>}
      </dd>
      {children}
    </div>
  );
}

const RECENT_MS = 5 * 60_000;

/** If the job isn't polled any more, the last minutes are those before its last poll. */
function ThroughputTile({ throughput }: { throughput: Throughput | null }) {
  useTick();
  const asOf = Date.parse(throughput?.asOf ?? "");
  const past = serverClock.now() - asOf > RECENT_MS;
  const minute = throughput?.perMinute;
  const lead = minute?.last5Minutes ?? null;
  const unknown = lead === null;
  return (
    <Tile
      title="Throughput"
      name="throughput"
      lead={formatRate(lead)}
      unit={unknown ? "" : "tasks/min"}
      isEmpty={unknown}
    >
      <dd class="detail">{past ? `in the 5 minutes before ${formatTime(asOf)}` : "in the last 5 minutes"}</dd>
      <Pairs
        pairs={[
          [past ? "15 min" : "last 15 min", formatRate(minute?.last15Minutes ?? null)],
          [past ? "60 min" : "last 60 min", formatRate(minute?.lastHour ?? null)],
        ]}
      />
    </Tile>
  );
}

function EstimateTile({ estimate }: { estimate: Estimate | null }) {
  useTick();
  const at = estimate?.completionTime;
  if (!estimate || !at) {
    return (
      <Tile title="Estimated end" name="estimate" lead={estimate?.remaining === 0 ? "–" : "Unknown"} isEmpty>
        <dd class="detail">
          <ExternalText text={estimate?.reason ?? "The throughput isn't known yet."} />
        </dd>
      </Tile>
    );
  }
  const left = (Date.parse(at) - serverClock.now()) / 1000;
  // The tile may be narrow; a number stays beside its unit.
  const duration = formatSeconds(left).replace(/(\d) /g, "$1\u00a0");
  return (
    <Tile title="Estimated end" name="estimate" lead={left > 0 ? `in ${duration}` : "due now"}>
      <dd class="detail">
        about {formatTime(Date.parse(at))}; {plural(estimate.remaining, "task")} left
        {estimate.basis && (
          <>
            , based on the <ExternalText text={estimate.basis} />
          </>
        )}
      </dd>
    </Tile>
  );
}

interface DurationTileProps {
  title: string;
  name: string;
  quantiles: Quantiles | null;
  none: string;
  note?: string;
}

function DurationTile({ title, name, quantiles, none, note }: DurationTileProps) {
  if (!quantiles) {
    return (
      <Tile title={title} name={name} lead="–" isEmpty>
        <dd class="detail">{none}</dd>
      </Tile>
    );
  }
  const error = (quantiles.relativeError * 100).toLocaleString("en-US", { maximumFractionDigits: 1 });
  return (
    <Tile title={title} name={name} lead={formatSeconds(quantiles.p50)} unit="median">
      <dd class="detail">
        ± {error}%, {plural(quantiles.tasks, "task")}
        {note && `; ${note}`}
      </dd>
      <Pairs
        pairs={[
          ["p90", formatSeconds(quantiles.p90)],
          ["p99", formatSeconds(quantiles.p99)],
          ["mean", formatSeconds(quantiles.mean)],
        ]}
      />
    </Tile>
  );
}

function RetriesTile({ statistics }: { statistics: JobStatistics }) {
  const { retries, retriedTasks, requeues, requeuedTasks } = statistics;
  return (
    <Tile title="Retries" name="retries" lead={formatCount(retries)} isEmpty={!retries}>
      <dd class="detail">
        {retries > 0 && `in ${plural(retriedTasks, "task")}; `}
        {requeues ? `${plural(requeues, "requeue")} requested for ${plural(requeuedTasks, "task")}` : "no requeues requested"}
      </dd>
    </Tile>
  );
}

function SlotsTile({ statistics: { slots } }: { statistics: JobStatistics }) {
  const used = slots ? slots.running + slots.preparing : 0;
  return (
    <Tile
      title="Slots"
      name="slots"
      lead={slots ? formatCount(used) : "–"}
      unit={slots ? "in use" : ""}
      isEmpty={!used}
    >
      <dd class="detail">
        {slots && slots.preparing > 0 && `${formatCount(slots.preparing)} by preparing tasks; `}
        {slots && `${formatCount(slots.active)} requested by waiting tasks`}
      </dd>
    </Tile>
  );
}

function Pairs({ pairs }: { pairs: [string, string][] }) {
  return (
    <dd class="pairs">
      {pairs.map(([name, value]) => (
        <span key={name}>
          <small>{name}</small> {value}
        </span>
      ))}
    </dd>
  );
}
