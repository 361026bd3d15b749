"""Tasks fail on a node that succeed on the others: its disk, its GPU, its network or its start task may be at fault."""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import from_milliseconds
from shared.domain.findings.finding import Amount, Finding, Scope, Value
from shared.domain.nodes.failing_nodes import FailingNode, FailingNodes

NODE_TASKS_FAIL = "nodeTasksFail"


def failing_node_findings(nodes: Sequence[FailingNode]) -> Iterator[Finding]:
    """Yields a finding on each node, with commands that take it out of use."""
    for one in nodes:
        yield _finding(one, "this job" if one.jobs == 1 else amount(one.jobs, "job"), {"comparedJobs": one.jobs})


def stored_node_findings(job_id: str, found: FailingNodes) -> Iterator[Finding]:
    """Yields a finding on each node that is stored with a job."""
    part = ", as far as a part of its tasks shows" if found.is_part else ""
    for one in found.nodes:
        yield _finding(one, f"job '{job_id}'", {"jobId": job_id, "asOf": from_milliseconds(found.as_of)}, part)


def _finding(one: FailingNode, jobs: str, more: Mapping[str, Value], part: str = "") -> Finding:
    """Returns the finding on a node.

    Ids are quoted for POSIX shells. Batch allows letters, digits, `-` and `_` in them, but nothing here relies on that.
    """
    pool, node = one.place
    where = f"--pool-id={quote(pool)} "
    return Finding(
        rule=NODE_TASKS_FAIL,
        scope=Scope("node", node),
        severity="info",
        title=f"Tasks fail on node '{node}'",
        sentence=f"{one.failed:,} of {amount(one.ended, 'task')} failed on node '{node}' of pool '{pool}'; at the "
        f"rate of its other nodes in {jobs}, {one.expected:,.1f} would have{part}. Chance doesn't explain that.",
        advice="Let it take no more tasks: "
        f"az batch node scheduling disable {where}--node-id={quote(node)}; then remove it, and resize a pool of "
        f"fixed size to get another one: az batch node delete {where}--node-list={quote(node)}",
        evidence={
            "poolId": pool,
            "nodeId": node,
            "failedTasks": one.failed,
            "endedTasks": one.ended,
            "expectedFailedTasks": round(one.expected, 2),
            "otherNodes": one.other_nodes,
            **more,
            "pValue": float(f"{one.p_value:.3g}"),
        },
        amount=Amount(one.failed, "tasks"),
    )
