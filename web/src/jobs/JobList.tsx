// The jobs as a table; on a narrow screen each row becomes a card. Roles are explicit, as that CSS removes the
// implicit ones.

import { useState } from "preact/hooks";
import type { ListSnapshot } from "../api/listPoller.ts";
import { type Job, TASK_STATES } from "../api/model.ts";
import { COST_HEADING, CostCell } from "../cost/lines/CostCell.tsx";
import { accountsOf, type NamedCost, totalOf, useCostTotals } from "../cost/lines/totals.ts";
import { visible } from "../format/text.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail, addressOfJob } from "../routing/routes.ts";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { ListFooter } from "../ui/list/ListFooter.tsx";
import { RowDetails } from "../ui/list/RowDetails.tsx";
import { AccountErrors } from "../ui/page/ErrorNotice.tsx";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import { VerdictBadge } from "../ui/text/VerdictBadge.tsx";
import { Figure, ReadBar, StateBar, Swatch, TaskStateName } from "../ui/tiles/StateBar.tsx";
import { EFFICIENCY_HEADING, EfficiencyCell } from "./EfficiencyCell.tsx";
import { type JobFilters, passes } from "./filters.ts";
import { byUrgency } from "./order.ts";

const ROWS = 300;

interface JobListProps {
  snapshot: ListSnapshot<Job>;
  filters: JobFilters;
  /** Whether the snapshot answers the present query. */
  isCurrent: boolean;
  choose: (change: Partial<JobFilters>) => void;
}

export function JobList({ snapshot, filters, isCurrent, choose }: JobListProps) {
  const [rows, setRows] = useState(ROWS);
  const jobs = snapshot.rows.filter((job) => passes(job, filters)).sort(byUrgency);
  const showAccount = snapshot.accounts.length > 1 && !filters.account;
  return (
    <section class="jobs" aria-label="Jobs">
      <AccountErrors errors={snapshot.errors} />
      {jobs.length ? (
        <JobTable jobs={jobs.slice(0, rows)} showAccount={showAccount} />
      ) : (
        !snapshot.errors.length && <NoJobs {...{ snapshot, filters, isCurrent, choose }} />
      )}
      <ListFooter
        noun="jobs"
        shown={rows}
        all={jobs.length}
        show={() => setRows(rows + ROWS)}
        more={snapshot.truncated ? "filter to find the others" : null}
      />
    </section>
  );
}

function NoJobs({ snapshot, filters, isCurrent, choose }: JobListProps) {
  const accounts = snapshot.accounts.filter(({ id }) => !filters.account || id === filters.account);
  const unknown = !accounts.length;
  const filtered = Object.entries(filters).some(([name, value]) => value && name !== "account");
  if (!unknown && !isCurrent) return <p class="empty">Loading…</p>;
  const waiting = accounts.some(({ enabled, lastRound }) => enabled && !lastRound);
  return (
    <div class="empty" data-testid="no-jobs">
      <h2>{unknown ? "This account isn't monitored" : filtered ? "No job matches" : "No jobs yet"}</h2>
      {filtered || unknown ? (
        <button type="button" onClick={() => choose({ account: "", state: "", poolId: "", prefix: "" })}>
          Show all jobs
        </button>
      ) : (
        <p>
          {waiting
            ? "Waiting for the first poll."
            : "Jobs appear here shortly after they are added to the Batch account."}
        </p>
      )}
    </div>
  );
}

function JobTable({ jobs, showAccount }: { jobs: Job[]; showAccount: boolean }) {
  const totals = useCostTotals(accountsOf(jobs), "job");
  return (
    <table role="table" data-testid="jobs">
      <thead role="rowgroup">
        <tr role="row">
          <ColumnHeader>Job</ColumnHeader>
          <ColumnHeader>State</ColumnHeader>
          <ColumnHeader>Pool</ColumnHeader>
          <ColumnHeader kind="wide">Tasks</ColumnHeader>
          {TASK_STATES.map((state) => (
            <ColumnHeader key={state} kind="number capital">
              <Swatch state={state} />
              <TaskStateName state={state} />
            </ColumnHeader>
          ))}
          <ColumnHeader kind="number">Total</ColumnHeader>
          <ColumnHeader kind="number">{COST_HEADING}</ColumnHeader>
          <ColumnHeader kind="number">{EFFICIENCY_HEADING}</ColumnHeader>
          <ColumnHeader>Confidence</ColumnHeader>
          <ColumnHeader kind="number">Checked</ColumnHeader>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {jobs.map((job) => (
          <JobRow
            key={`${job.account} ${job.id} ${job.creationTime}`}
            job={job}
            showAccount={showAccount}
            total={totalOf(totals, job.account, job.id)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  job: Job;
  showAccount: boolean;
  total: NamedCost | undefined;
}

function JobRow({ job, showAccount, total }: RowProps) {
  const counts = job.taskCounts;
  return (
    <tr role="row" data-job={job.id} data-account={job.account}>
      <th role="rowheader" scope="row" class="id">
        <Id text={job.id} to={addressOfJob(job.account, job.id)} class="open" />
        <RowDetails
          parts={[
            showAccount && job.account,
            job.displayName !== job.id && job.displayName,
            job.terminateReason && `terminated: ${job.terminateReason}`,
          ]}
        />
      </th>
      <td role="cell" class="state" data-job-state={job.deleted ? "deleted" : job.state}>
        {job.deleted ? "deleted" : job.state}
      </td>
      <td role="cell" class="pool" title={visible(job.poolId ?? "")}>
        {job.poolId ? (
          <Link to={addressOfDetail("pools", job.account, job.poolId)}>
            <ExternalText text={job.poolId} />
          </Link>
        ) : (
          "–"
        )}
      </td>
      <td role="cell" class="wide">
        {job.progress ? <ReadBar {...job.progress} /> : <StateBar counts={counts} />}
      </td>
      {TASK_STATES.map((state) => (
        <td key={state} role="cell" class="number" data-count={state} data-zero={!counts?.[state]}>
          <span class="label capital">
            <Swatch state={state} />
            <TaskStateName state={state} />
          </span>
          <Figure value={counts?.[state]} />
        </td>
      ))}
      <td role="cell" class="number" data-count="total">
        <span class="label">Total</span>
        <Figure value={counts?.total} />
      </td>
      <CostCell total={total} />
      <EfficiencyCell efficiency={job.efficiency ?? null} />
      <td role="cell" class="verdict">
        <VerdictBadge verdict={job.verdict} />
      </td>
      <td role="cell" class="number age">
        <span class="label">checked </span>
        <Age at={job.verdict.checkedAt} none="–" />
      </td>
    </tr>
  );
}
