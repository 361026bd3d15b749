"""Which nodes of a pool report, and why the others don't: the evidence about one node, and the first rule that fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.agent.rules.no_machine import no_machine
from shared.domain.agent.rules.nothing_arrived import nothing_arrived
from shared.domain.agent.rules.out_of_reach import out_of_reach
from shared.domain.agent.rules.start_task_failed import start_task_failed
from shared.domain.agent.rules.started_before import started_before
from shared.domain.agent.rules.starting import starting
from shared.domain.agent.rules.stopped import stopped
from shared.domain.agent.rules.unreadable import unreadable
from shared.domain.agent.rules.without_agent import without_agent
from shared.domain.findings.finding import Finding

RULES: Sequence[Callable[[ReportEvidence], Finding | None]] = (
    no_machine, starting, out_of_reach, unreadable, start_task_failed, stopped, without_agent, started_before,
    nothing_arrived,
)  # fmt: skip
"""In the order of certainty: the node's own state first, then its blobs, then its start task."""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """A node's reports: the last minute with any, and its agent's version and start where those are known.

    `waiting_bytes` were in the agent's spool at the last report, `dropped_records` are those of the last hour. `reason`
    is None for a node that reports.
    """

    id: str
    state: str
    is_reporting: bool
    seen: datetime | None
    version: str
    began: datetime | None
    waiting_bytes: int | None
    dropped_records: int | None
    reason: Finding | None


def reason_of(evidence: ReportEvidence) -> Finding | None:
    """Returns the most likely reason why a node doesn't report."""
    return next(filter(None, (rule(evidence) for rule in RULES)), None)
