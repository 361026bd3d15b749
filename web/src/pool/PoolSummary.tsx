// The summary of a pool: state and sizes, nodes by state, usage, and problems.

import { PoolCostLine } from "../cost/lines/CostLine.tsx";
import { formatCount, formatRate, plural } from "../format/numbers.ts";
import { InterruptionSummary } from "../nodes/InterruptionSummary.tsx";
import { NodeBar, NodeLegend } from "../nodes/NodeBar.tsx";
import { nodeTotal } from "../nodes/stateGroups.ts";
import { coresText, slotsText, unknownCoresText, vmSizesText } from "../nodes/summaries.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfList } from "../routing/routes.ts";
import { Age, TimeInState } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { VerdictLine } from "../ui/text/VerdictLine.tsx";
import { FailedTasksLine } from "../ui/tiles/FailedTasksLine.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import { WaitingTasksLine } from "../ui/tiles/WaitingTasksLine.tsx";
import { type Pool, type Size, usedSizes } from "./model.ts";
import { type PoolProblem, problemsOf } from "./problems.ts";

export function PoolSummary({ pool }: { pool: Pool }) {
  return (
    <section class="tile job-top pool-top" aria-label="Pool" data-pool={pool.id}>
      <Facts pool={pool} />
      <ProblemList problems={problemsOf(pool)} />
      <Numbers pool={pool} />
      <NodeBar counts={pool.nodeCounts} />
      {pool.nodeCounts ? (
        <NodeLegend counts={pool.nodeCounts} />
      ) : (
        <p class="node-legend">The pool's nodes haven't been read yet.</p>
      )}
      {pool.interruptions && (pool.spot.current + (pool.spot.target ?? 0) > 0 || pool.interruptions.total > 0) && (
        <p class="pools-line" data-testid="interruptions">
          Spot: <InterruptionSummary interruptions={pool.interruptions} />.
        </p>
      )}
      <WaitingTasksLine waiting={pool.waitingTasks} asOf={pool.waitingTasksAsOf} />
      <FailedTasksLine failed={pool.failedTasks} />
      <PoolCostLine account={pool.account} pool={pool.id} />
      <VerdictLine verdict={pool.verdict} />
    </section>
  );
}

function Facts({ pool }: { pool: Pool }) {
  const versions = Object.keys(pool.nodeAgentVersions ?? {}).length;
  return (
    <ul class="facts">
      <li class="state" data-pool-state={pool.allocationState ?? ""} data-testid="allocation">
        {pool.allocationState ? (
          <>
            allocation state <ExternalText text={pool.allocationState} /> for <TimeInState since={pool.allocationStateTransitionTime} />
          </>
        ) : (
          "allocation state unknown"
        )}
      </li>
      <li data-testid="pool-state">
        pool state <ExternalText text={pool.state} />
        {pool.state !== "active" && (
          <>
            {" "}
            for <TimeInState since={pool.stateTransitionTime} />
          </>
        )}
      </li>
      <li data-testid="vm-sizes">
        <ExternalText text={vmSizesText(pool)} />
      </li>
      <li>{plural(pool.taskSlotsPerNode, "slot")} per node</li>
      {versions > 1 && <li data-testid="agent-version-count">{plural(versions, "version")} of Batch's node agent</li>}
      <li>
        account <ExternalText text={pool.account} />
      </li>
      <li>
        <Link to={addressOfList("jobs", { account: pool.account, poolId: pool.id })}>jobs on this pool</Link>
      </li>
      <li>
        created <Age at={pool.creationTime} />
      </li>
      {pool.displayName && pool.displayName !== pool.id && (
        <li class="called">
          <ExternalText text={pool.displayName} />
        </li>
      )}
    </ul>
  );
}

/** Problems in Batch's words, with their ages; errors of earlier resizes are marked as stale. */
function ProblemList({ problems }: { problems: PoolProblem[] }) {
  if (!problems.length) return null;
  return (
    <ul class="pool-troubles" data-testid="troubles">
      {problems.map(({ text, detail, stale, at }, index) => (
        <li key={index} data-stale={stale}>
          <strong>
            <ExternalText text={text} />
          </strong>
          {at && (
            <small>
              {stale ? " last reported " : " "}
              <Age at={at} />
            </small>
          )}
          {detail && (
            <span class="detail">
              <ExternalText text={detail} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Numbers({ pool }: { pool: Pool }) {
  const { nodeCounts, cores, unknownCores, slots, dedicated, spot } = pool;
  const nodes = nodeCounts ? nodeTotal(nodeCounts) : null;
  return (
    <dl class="numbers of-pools">
      <KeyFigure name="Nodes" value={nodes === null ? null : formatCount(nodes)} detail={targetsOf(dedicated, spot)} />
      <KeyFigure
        name="Cores busy"
        value={cores && formatRate(cores.busy)}
        detail={cores ? coresText(cores) : nodeCounts ? unknownCoresText(unknownCores) : ""}
      />
      <KeyFigure name="Slots used" value={slots && formatCount(slots.used)} detail={slots ? slotsText(slots) : ""} />
      <KeyFigure name="Running tasks" value={pool.runningTasks === null ? null : formatCount(pool.runningTasks)} />
    </dl>
  );
}

/** "10 → 12 dedicated, 4 spot": current and, if it differs, target nodes, as Batch reports them. */
function targetsOf(dedicated: Size, spot: Size): string {
  const parts = usedSizes(dedicated, spot).map(([name, { current, target }]) =>
    target === null || target === current ? `${formatCount(current)} ${name}` : `${formatCount(current)} → ${formatCount(target)} ${name}`,
  );
  const unknown = dedicated.target === null || spot.target === null;
  if (!parts.length) return unknown ? "target unknown" : "target 0";
  return parts.join(", ") + (unknown ? "; target unknown" : "");
}
