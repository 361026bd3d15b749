"""The explanation why a job doesn't run, or not faster: the rules' findings, the cause first.

The order is that of the gates that a task passes: its job, its dependencies, its job's limit, its pool, the pool's
nodes, their slots. A gate shut for all tasks precedes one that lets some pass. Among gates equally shut the first on
the way comes first, as opening a later one wouldn't help (docs/adr/0015).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from shared.domain.core.amounts import amount
from shared.domain.explain import (
    why_dependencies,
    why_job,
    why_nodes,
    why_pool,
    why_preparation,
    why_resizes,
    why_slots,
)
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.findings import Finding

type Rule = Callable[[Evidence], Finding | None]
_NAMES = ("Azure ", "Batch ")
_RANKS = {"blocking": 0, "limiting": 1, "info": 2}
_TURNS = ("maxParallelTasks", "higherPriorityJobs", "slotsBusy")  # relevant only to tasks that may start

OF_JOB: tuple[Rule, ...] = (why_job.deleted, why_job.expired, why_job.not_started, why_job.over)
ON_THE_WAY: tuple[Rule, ...] = (
    why_job.disabled,
    why_dependencies.all_held,
    why_dependencies.seem_all_held,
    why_pool.missing,
    why_pool.deleting,
    why_job.all_too_large,
    why_pool.no_target,
    why_job.parallel_bound,
    *why_nodes.BEFORE_RESIZES,
    why_pool.autoscale_failed,
    why_resizes.resize_failed,
    *why_nodes.PREEMPTIONS,
    why_resizes.resizing,
    *why_nodes.AFTER_RESIZES,
    why_pool.no_nodes,
    why_pool.autoscale_failed_as_well,
    why_preparation.failed,
    why_slots.higher_priority,
    why_slots.slots_busy,
    why_job.some_too_large,
    why_dependencies.some_held,
    why_job.retried,
    why_resizes.stale_error,
)
AT_REST: tuple[Rule, ...] = (why_job.disabled, why_job.nothing_waits, why_job.retried)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Findings with the cause first, and a summary sentence; `running` means that tasks of the job run."""

    running: bool
    summary: str
    findings: tuple[Finding, ...]


def explain(evidence: Evidence) -> Explanation:
    """Returns the explanation that follows from the evidence."""
    rests = evidence.counts is not None and not evidence.waits
    findings = _found(OF_JOB, evidence) or _found(AT_REST if rests else ON_THE_WAY, evidence)
    findings = _one_blocks(sorted(findings, key=lambda finding: _RANKS[finding.severity]))
    if all(finding.severity == "info" for finding in findings):
        findings = [*_found((why_slots.room,), evidence), *findings]
    return Explanation(evidence.runs > 0, _summary(evidence, findings), tuple(findings))


def _one_blocks(findings: list[Finding]) -> list[Finding]:
    """Demotes further blocking findings, and those about turns for slots, to notes: one blocking cause is enough."""
    if not findings or findings[0].severity != "blocking":
        return findings
    first, *others = findings
    told = [
        replace(finding, severity="info") if finding.severity == "blocking" or finding.code in _TURNS else finding
        for finding in others
    ]
    return [first, *sorted(told, key=lambda finding: _RANKS[finding.severity])]


def _found(rules: tuple[Rule, ...], evidence: Evidence) -> list[Finding]:
    return [finding for rule in rules if (finding := rule(evidence))]


def _amid_sentence(title: str) -> str:
    return title if title.startswith(_NAMES) else f"{title[0].lower()}{title[1:]}"


def _summary(e: Evidence, findings: list[Finding]) -> str:
    first = findings[0] if findings else None
    title = _amid_sentence(first.title) if first else ""
    if e.counts is None:
        return "Its tasks haven't been read yet" + (f": {title}." if first else ".")
    if not e.waits:
        if e.runs:
            return f"It runs: {amount(e.runs, 'task')} {'runs' if e.runs == 1 else 'run'}, and none waits."
        return f"None of its tasks waits: {title}." if first else "None of its tasks waits."
    wait = "waits" if e.waits == 1 else "wait"
    if e.runs and first and first.severity == "blocking":
        start = f"It runs {amount(e.runs, 'task')}, and {_none_of(e.waits)}"
    elif e.runs:
        start = f"It runs {amount(e.runs, 'task')}, and {e.waits:,} {wait}"
    elif first and first.severity == "blocking":
        start = f"None of its {e.waits:,} waiting tasks starts" if e.waits > 1 else "Its waiting task doesn't start"
    else:
        start = f"None of its tasks runs, and {e.waits:,} {wait}"
    return f"{start}: {title}." if first else f"{start}; what for couldn't be found out."


def _none_of(waiting: int) -> str:
    return "the one that waits doesn't start" if waiting == 1 else f"none of the {waiting:,} that wait starts"
