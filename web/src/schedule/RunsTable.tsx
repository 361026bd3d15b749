// The latest jobs of a schedule with their durations and tasks; on a narrow screen each row becomes a card.

import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { amountText } from "../cost/amounts/texts.ts";
import { detailsOf } from "../cost/lines/texts.ts";
import type { NamedCost } from "../cost/lines/totals.ts";
import { formatSeconds } from "../format/durations.ts";
import { addressOfJob } from "../routing/routes.ts";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { Age } from "../ui/text/Age.tsx";
import { Id } from "../ui/text/Id.tsx";
import { Figure, StateBar } from "../ui/tiles/StateBar.tsx";
import { costOfRun, type ScheduleCosts } from "./costs.ts";
import type { Run, ScheduleDetails } from "./model.ts";

const COLUMNS: [title: string, kind?: string][] = [
  ["Job"],
  ["State"],
  ["Created"],
  ["Duration", "number"],
  ["Tasks", "wide"],
  ["Succeeded", "number"],
  ["Failed", "number"],
  ["Total", "number"],
  ["Cost", "number"],
];

const INTERVAL_MS = 60_000;

export function RunsTable({ schedule: { recentJobs, account, id } }: { schedule: ScheduleDetails }) {
  const path = `${pathOfAccount(account, "jobschedules")}/${encodeURIComponent(id)}/cost`;
  const { value: costs } = usePolled<ScheduleCosts>({ path, intervalMs: INTERVAL_MS });
  if (!recentJobs.length) return <p class="nothing">No job of this schedule is known.</p>;
  return (
    <table class="runs-table" role="table" data-testid="runs">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map(([title, kind]) => (
            <ColumnHeader key={title} kind={kind}>
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {recentJobs.map((run) => (
          <RunRow key={`${run.id} ${run.creationTime}`} run={run} account={account} cost={costOfRun(costs, run)} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  run: Run;
  account: string;
  cost: NamedCost | undefined;
}

function RunRow({ run, account, cost }: RowProps) {
  const counts = run.taskCounts;
  const state = run.deleted ? "deleted" : run.state;
  const took = run.endTime && (Date.parse(run.endTime) - Date.parse(run.creationTime)) / 1000;
  return (
    <tr role="row" data-run={run.id}>
      <th role="rowheader" scope="row" class="run-id">
        <Id text={run.id} to={addressOfJob(account, run.id)} />
      </th>
      <td role="cell" class="state" data-job-state={state}>
        {state}
      </td>
      <td role="cell">
        <span class="label">created </span>
        <Age at={run.creationTime} />
      </td>
      <td role="cell" class="number" data-empty={!took}>
        <span class="label">took </span>
        {took ? formatSeconds(Math.max(took, 0)) : <span class="zero">–</span>}
      </td>
      <td role="cell" class="wide">
        <StateBar counts={counts} />
      </td>
      <td role="cell" class="number">
        <span class="label">succeeded </span>
        <Figure value={counts?.succeeded} />
      </td>
      <td role="cell" class="number" data-count="failed" data-zero={!counts?.failed}>
        <span class="label">failed </span>
        <Figure value={counts?.failed} />
      </td>
      <td role="cell" class="number">
        <span class="label">of </span>
        <Figure value={counts?.total} />
      </td>
      <td role="cell" class="number" data-count="cost" data-empty={!cost} title={cost && detailsOf(cost.cost, cost.currency)}>
        <span class="label">cost </span>
        {cost ? amountText(cost.cost.amount, cost.currency) : <span class="zero">–</span>}
      </td>
    </tr>
  );
}
