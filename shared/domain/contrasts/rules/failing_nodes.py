"""Tasks fail on a node that succeed on the others: its disk, its GPU, its network or its start task may be at fault."""

from collections.abc import Iterator, Sequence
from shlex import quote

from shared.domain.contrasts.node_outcomes import FailingNode
from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Amount, Finding, Scope

NODE_TASKS_FAIL = "nodeTasksFail"


def failing_node_findings(nodes: Sequence[FailingNode]) -> Iterator[Finding]:
    """Yields a finding on each node, with commands that take it out of use.

    Ids are quoted for POSIX shells. Batch allows letters, digits, `-` and `_` in them, but nothing here relies on that.
    """
    for one in nodes:
        pool, node = one.place
        jobs = "this job" if one.jobs == 1 else amount(one.jobs, "job")
        where = f"--pool-id={quote(pool)} "
        yield Finding(
            rule=NODE_TASKS_FAIL,
            scope=Scope("node", node),
            severity="info",
            title=f"Tasks fail on node '{node}'",
            sentence=f"{one.failed:,} of {amount(one.ended, 'task')} failed on node '{node}' of pool '{pool}'; at the "
            f"rate of its other nodes in {jobs}, {one.expected:,.1f} would have. Chance doesn't explain that.",
            advice="Let it take no more tasks: "
            f"az batch node scheduling disable {where}--node-id={quote(node)}; then remove it, and resize a pool of "
            f"fixed size to get another one: az batch node delete {where}--node-list={quote(node)}",
            evidence={
                "poolId": pool,
                "failedTasks": one.failed,
                "endedTasks": one.ended,
                "expectedFailedTasks": round(one.expected, 2),
                "otherNodes": one.other_nodes,
                "jobs": one.jobs,
                "pValue": float(f"{one.p_value:.3g}"),
            },
            amount=Amount(one.failed, "tasks"),
        )
