"""The cause in a job's preparation task: nodes on which it failed take no tasks of the job."""

from shared.domain.core.amounts import amount, are
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.findings import Finding, Severity


def failed(e: Evidence) -> Finding | None:
    """Returns the finding on nodes where this job's preparation failed, though they may run tasks of other jobs.

    Beside fit nodes it is limiting only if the failed ones are as many.
    """
    found, failed, fit = e.preparation, e.unfit, e.fit
    if found is None or not failed or not e.waits:
        return None
    told = found.failures[0][0] if found.failures else ""
    few: Severity = "limiting" if len(failed) >= len(fit) else "info"
    return Finding(
        "preparationFailed",
        few if fit else e.later_severity,
        "The job preparation task fails" + (" on some nodes" if fit else ""),
        f"It failed on {amount(len(failed), 'node')} of the pool, which {'takes' if len(failed) == 1 else 'take'} "
        f"no tasks of this job. {are(len(fit), 'node') if fit else 'None is'} left for it. {told}".rstrip(),
        "See the output of the preparation task on such a node. If the fault is the task's, correct it and submit the "
        "job again; if it is the node's, reimage that: then it takes the job's tasks again.",
        {
            "failedNodes": len(failed),
            "fitNodes": len(fit),
            "preparedNodes": found.succeeded,
            "failures": tuple(f"{count} x {word}" for word, count in found.failures[:3]),
        },
        found.since,
    )
