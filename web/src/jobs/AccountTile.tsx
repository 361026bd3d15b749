// An account's tile on the list of jobs: numbers of jobs and tasks, their age, and the last round.

import type { Account, Round } from "../api/model.ts";
import { formatDuration } from "../format/durations.ts";
import { formatCount, plural, statesText } from "../format/numbers.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { FailedTasksLine } from "../ui/tiles/FailedTasksLine.tsx";
import { StateBar } from "../ui/tiles/StateBar.tsx";
import { TaskStateFigures } from "../ui/tiles/TaskStateFigures.tsx";
import { TileFrame } from "../ui/tiles/TileFrame.tsx";
import { WaitingTasksLine } from "../ui/tiles/WaitingTasksLine.tsx";
import { PoolsLine, SchedulesLine } from "./AccountLines.tsx";
import type { JobFilters } from "./filters.ts";
import { rankOf } from "./order.ts";

interface TileProps {
  account: Account;
  single: boolean;
  filters: JobFilters;
  choose: (change: Partial<JobFilters>) => void;
}

export function AccountTile({ account, single, filters, choose }: TileProps) {
  const chosen = filters.account === account.id;
  const toggle = () => choose({ account: chosen ? "" : account.id });
  return (
    <TileFrame {...{ account, single, chosen, toggle }} asOf={account.lastRound?.asOf ?? null}>
      <Numbers account={account} />
      <StateBar counts={account.taskCounts} />
      <WaitingTasksLine waiting={account.waitingTasks} asOf={account.waitingTasksAsOf} />
      <FailedTasksLine failed={account.failedTasks} />
      <PoolsLine account={account} />
      <SchedulesLine account={account} />
      <footer>
        <LastRound round={account.lastRound} />
        <span class="endpoint">
          <ExternalText text={account.endpoint} />
        </span>
      </footer>
    </TileFrame>
  );
}

function Numbers({ account }: { account: Account }) {
  const states = Object.entries(account.jobs).filter(([, number]) => number > 0);
  states.sort(([one], [other]) => rankOf(one) - rankOf(other));
  const jobs = states.reduce((sum, [, number]) => sum + number, 0);
  return (
    <dl class="numbers">
      <div class="lead">
        <dt>{jobs === 1 ? "Job" : "Jobs"}</dt>
        <dd data-testid="jobs-total">{formatCount(jobs)}</dd>
        <dd class="detail">
          {statesText(Object.fromEntries(states)) || "none yet"}
        </dd>
      </div>
      <div class="lead">
        <dt>Tasks</dt>
        <dd data-testid="tasks-total">{formatCount(account.taskCounts.total)}</dd>
        <dd class="detail">{formatCount(account.taskCounts.completed)} completed</dd>
      </div>
      <TaskStateFigures counts={account.taskCounts} name="tasks" />
    </dl>
  );
}

function LastRound({ round }: { round: Round | null }) {
  if (!round) return <span>Waiting for the first poll.</span>;
  const took = formatDuration(Date.parse(round.finishedAt) - Date.parse(round.startedAt));
  if (round.outcome === "failed") {
    return (
      <span class="bad" data-testid="round">
        The last poll failed <Age at={round.finishedAt} />: <ExternalText text={round.reason ?? "no reason was given"} />
      </span>
    );
  }
  return (
    <span data-testid="round">
      Last poll: {plural(round.jobsPolled, "job")}, {plural(round.batchCalls, "request")}, {took}
      {round.jobsFailed > 0 && <span class="bad">; polling failed for {plural(round.jobsFailed, "job")}</span>}
    </span>
  );
}
