// The queue of a pool: which job's tasks Batch takes next, and why each job waits.

import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { addressOfJob } from "../../routing/routes.ts";
import { serverClock } from "../../time/clock.ts";
import { useTick } from "../../time/useTick.ts";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { Age } from "../../ui/text/Age.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { Id } from "../../ui/text/Id.tsx";
import type { Queue, QueuedJob } from "./model.ts";
import { queueText, readyText, shareText, startText } from "./texts.ts";

const INTERVAL_MS = 10_000;
const MAX_JOBS = 100; // in a table

export function QueueSection({ view }: { view: PoolView }) {
  const { ref, inView } = useInView();
  const polled = usePolled<Queue>({ path: pathOfPool(view, "queue"), intervalMs: INTERVAL_MS, enabled: inView });
  const queue = polled.value;
  const note = queue?.asOf && (
    <>
      as of <Age at={queue.asOf} />
    </>
  );
  const csv = queue && queue.count > 0 && (
    <a
      class="csv"
      href={`${pathOfPool(view, "queue")}?top=${MAX_JOBS}&format=csv`}
      download={`${view.pool}-queue.csv`}
      aria-label="Queue as CSV"
    >
      CSV
    </a>
  );
  return (
    <Section title="Queue" name="queue" sectionRef={ref} polled={polled} note={note} actions={csv}>
      {(value) =>
        value.count ? <Contents queue={value} account={view.account} /> : <p class="nothing">No task waits for slots.</p>
      }
    </Section>
  );
}

interface ContentsProps {
  queue: Queue;
  account: string;
}

function Contents({ queue, account }: ContentsProps) {
  return (
    <>
      <p class="queue-line" data-testid="queue-summary">
        {queueText(queue)}
      </p>
      <table class="tasks queue" role="table" aria-label="Jobs that wait, in order">
        <thead role="rowgroup">
          <tr role="row">
            <ColumnHeader>Job</ColumnHeader>
            {["Rank", "Priority", "Ready tasks", "Running", "Share"].map((title) => (
              <ColumnHeader key={title} kind="number">
                {title}
              </ColumnHeader>
            ))}
            <ColumnHeader>Next start</ColumnHeader>
            <ColumnHeader>Waits for</ColumnHeader>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {queue.value.map((job) => (
            <Row key={job.id} job={job} account={account} />
          ))}
        </tbody>
      </table>
      {queue.moreJobs > 0 && (
        <p class="queue-line" data-testid="queue-more">
          {plural(queue.moreJobs, "more job")} behind these.
        </p>
      )}
      {queue.unknown.length > 0 && (
        <ul class="queue-line" data-testid="queue-unknown">
          {queue.unknown.map((sentence) => (
            <li key={sentence}>
              <ExternalText text={sentence} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface RowProps {
  job: QueuedJob;
  account: string;
}

function Row({ job, account }: RowProps) {
  return (
    <tr role="row" data-queued-job={job.id}>
      <th role="rowheader" scope="row" class="task">
        <Id text={job.id} to={addressOfJob(account, job.id)} />
        <small class="aside">
          created <Age at={job.creationTime} />
        </small>
      </th>
      <td role="cell" class="number" data-empty={job.rank === null}>
        <span class="label">rank </span>
        {job.rank === null ? <span class="zero">–</span> : formatCount(job.rank)}
      </td>
      <td role="cell" class="number">
        <span class="label">priority </span>
        {job.priority}
      </td>
      <td role="cell" class="number">
        <span class="label">ready tasks </span>
        {readyText(job)}
      </td>
      <td role="cell" class="number">
        <span class="label">running </span>
        {formatCount(job.runningTasks)}
      </td>
      <td role="cell" class="number" data-empty={job.share === null}>
        <span class="label">share </span>
        {shareText(job)}
      </td>
      <td role="cell" data-empty={job.expectedStart === null}>
        <span class="label">next start </span>
        {job.expectedStart ? <Start at={job.expectedStart} /> : <span class="zero">–</span>}
      </td>
      <td role="cell" class="why">
        {job.title && <ExternalText text={job.title} />}
        {job.reason && job.reason !== `${job.title}.` && (
          <small class="aside">
            <ExternalText text={job.reason} />
          </small>
        )}
      </td>
    </tr>
  );
}

function Start({ at }: { at: string }) {
  useTick();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {startText(at, serverClock.now())}
    </time>
  );
}
