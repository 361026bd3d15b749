// How fast a job goes, when it will be done, how long its tasks wait and run, and what was done twice.

import type { ComponentChildren } from "preact";
import type { Estimate, Insight, Spread, Throughput } from "../api/model.ts";
import { moment } from "../format/dates.ts";
import { seconds } from "../format/durations.ts";
import { count, plural, rate } from "../format/numbers.ts";
import { serverClock } from "../time/clock.ts";
import { useTick } from "../time/useTick.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";

export function InsightTiles({ insight }: { insight: Insight | null }) {
  if (!insight) {
    return <p class="card nothing-yet">Throughput and durations appear once all tasks of this job have been read.</p>;
  }
  return (
    <dl class="insights" aria-label="Statistics">
      <Pace throughput={insight.throughput} />
      <End estimate={insight.estimate} />
      <Times
        title="Wait in queue"
        name="queue-wait"
        spread={insight.queueWait}
        none="No task has finished its first run yet."
        note="interrupted runs on preempted or lost nodes count as waiting"
      />
      <Times title="Run time" name="run-time" spread={insight.runTime} none="No task has finished yet." />
      <Again insight={insight} />
      <Slots insight={insight} />
    </dl>
  );
}

interface TileProps {
  title: string;
  name: string;
  lead: ComponentChildren;
  unit?: string;
  /** Says that there is no value. */
  faint?: boolean;
  children?: ComponentChildren;
}

function Tile({ title, name, lead, unit, faint = false, children }: TileProps) {
  return (
    <div class="card insight" data-testid={`insight-${name}`}>
      <dt>{title}</dt>
      <dd class={faint ? "lead none" : "lead"}>
        {lead}
        {unit && <small> {unit}</small>}
      </dd>
      {children}
    </div>
  );
}

const RECENT_MS = 5 * 60_000;

/** Of a job that isn't looked at any more the last minutes are those before its last look. */
function Pace({ throughput }: { throughput: Throughput | null }) {
  useTick();
  const asOf = Date.parse(throughput?.asOf ?? "");
  const past = serverClock.now() - asOf > RECENT_MS;
  const minute = throughput?.perMinute;
  const lead = minute?.last5Minutes ?? null;
  const unknown = lead === null;
  return (
    <Tile title="Throughput" name="throughput" lead={rate(lead)} unit={unknown ? "" : "tasks/min"} faint={unknown}>
      <dd class="detail">{past ? `in the 5 minutes before ${moment(asOf)}` : "in the last 5 minutes"}</dd>
      <Pairs
        pairs={[
          [past ? "15 min" : "last 15 min", rate(minute?.last15Minutes ?? null)],
          [past ? "60 min" : "last 60 min", rate(minute?.lastHour ?? null)],
        ]}
      />
    </Tile>
  );
}

function End({ estimate }: { estimate: Estimate | null }) {
  useTick();
  const at = estimate?.completionTime;
  if (!estimate || !at) {
    return (
      <Tile title="Estimated end" name="estimate" lead={estimate?.remaining === 0 ? "–" : "Unknown"} faint>
        <dd class="detail">
          <ExternalText text={estimate?.reason ?? "The throughput isn't known yet."} />
        </dd>
      </Tile>
    );
  }
  const left = (Date.parse(at) - serverClock.now()) / 1000;
  return (
    <Tile title="Estimated end" name="estimate" lead={left > 0 ? `in ${seconds(left)}` : "due now"}>
      <dd class="detail">
        about {moment(Date.parse(at))}; {plural(estimate.remaining, "task")} left
        {estimate.basis && (
          <>
            , based on the <ExternalText text={estimate.basis} />
          </>
        )}
      </dd>
    </Tile>
  );
}

interface TimesProps {
  title: string;
  name: string;
  spread: Spread | null;
  none: string;
  note?: string;
}

function Times({ title, name, spread, none, note }: TimesProps) {
  if (!spread) {
    return (
      <Tile title={title} name={name} lead="–" faint>
        <dd class="detail">{none}</dd>
      </Tile>
    );
  }
  const error = (spread.relativeError * 100).toLocaleString("en-US", { maximumFractionDigits: 1 });
  return (
    <Tile title={title} name={name} lead={seconds(spread.p50)} unit="median">
      <dd class="detail">
        ± {error}%, {plural(spread.tasks, "task")}
        {note && `; ${note}`}
      </dd>
      <Pairs
        pairs={[
          ["p90", seconds(spread.p90)],
          ["p99", seconds(spread.p99)],
          ["mean", seconds(spread.mean)],
        ]}
      />
    </Tile>
  );
}

function Again({ insight }: { insight: Insight }) {
  const { retries, retriedTasks, requeues, requeuedTasks } = insight;
  return (
    <Tile title="Retries" name="retries" lead={count(retries)} faint={!retries}>
      <dd class="detail">
        {retries > 0 && `in ${plural(retriedTasks, "task")}; `}
        {requeues ? `${plural(requeues, "requeue")} requested for ${plural(requeuedTasks, "task")}` : "no requeues requested"}
      </dd>
    </Tile>
  );
}

function Slots({ insight: { slots } }: { insight: Insight }) {
  const taken = slots ? slots.running + slots.preparing : 0;
  return (
    <Tile title="Slots" name="slots" lead={slots ? count(taken) : "–"} unit={slots ? "in use" : ""} faint={!taken}>
      <dd class="detail">
        {slots && slots.preparing > 0 && `${count(slots.preparing)} by preparing tasks; `}
        {slots && `${count(slots.active)} requested by waiting tasks`}
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
