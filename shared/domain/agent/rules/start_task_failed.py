"""The start task failed, perhaps before it started the agent: its files are fetched first."""

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.findings.finding import Finding


def start_task_failed(e: ReportEvidence) -> Finding | None:
    run = e.node.start
    if run is None or not run.has_failed:
        return None
    code = f" ({run.code})" if run.code else ""
    ended = f" with exit code {run.exit_code}" if run.exit_code is not None else ""
    return e.finding(
        "startTaskFailed",
        "The start task failed",
        f"The node's start task failed{ended}{code}.",
        "Read stderr.txt of the start task. Where Batch couldn't fetch the agent's file, the pool's identity lacks the "
        "role Storage Blob Data Reader on the container agent, or the SAS has expired.",
        exitCode=run.exit_code,
        failureCode=run.code or None,
    )
