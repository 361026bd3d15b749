"""The job preparation task failed: nodes on which it did take no tasks of the job."""

from shared.domain.core.amounts import amount, are
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.findings.finding import Amount, Severity
from shared.domain.findings.thresholds import MAX_EXAMPLES


def preparation_failed(e: Evidence) -> Found:
    """Returns the finding on nodes where this job's preparation failed, though they may run tasks of other jobs.

    Beside fit nodes it is limiting only if the failed ones are as many.
    """
    found, failed, fit = e.preparation, e.unfit, e.fit
    if found is None or not failed or not e.waiting_tasks:
        return None
    failure = found.failures[0][0] if found.failures else ""
    few: Severity = "limiting" if len(failed) >= len(fit) else "info"
    return e.about_job(
        "preparationFailed",
        few if fit else e.later_severity,
        title="The job preparation task fails" + (" on some nodes" if fit else ""),
        sentence=f"It failed on {amount(len(failed), 'node')} of the pool, which "
        f"{'takes' if len(failed) == 1 else 'take'} no tasks of this job. "
        f"{are(len(fit), 'node') if fit else 'None is'} left for it. {failure}".rstrip(),
        advice="See the output of the preparation task on such a node. If the fault is the task's, correct it and "
        "submit the job again; if it is the node's, reimage that: then it takes the job's tasks again.",
        evidence={
            "failedNodes": len(failed),
            "fitNodes": len(fit),
            "preparedNodes": found.succeeded,
            "failures": tuple(f"{count} x {failure}" for failure, count in found.failures[:MAX_EXAMPLES]),
        },
        since=found.since,
        amount=Amount(len(failed), "nodes"),
    )
