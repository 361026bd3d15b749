"""The explanation why a job doesn't run, or not faster: the rules' findings, the cause first.

The order is that of the gates that a task passes: its job, its dependencies, its job's limit, its pool, the pool's
nodes, their slots. A gate shut for all tasks precedes one that lets some pass. Among gates equally shut the first on
the way comes first, as opening a later one wouldn't help (docs/adr/0015). Nodes on which tasks fail come last, one
hint each, also of a job that has ended.
"""

from dataclasses import dataclass, replace

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence, Rule
from shared.domain.explain.rules.job.deleted import deleted
from shared.domain.explain.rules.job.disabled import disabled
from shared.domain.explain.rules.job.ended import ended
from shared.domain.explain.rules.job.expired import expired
from shared.domain.explain.rules.job.max_parallel_tasks import max_parallel_tasks
from shared.domain.explain.rules.job.no_waiting_tasks import no_waiting_tasks
from shared.domain.explain.rules.job.not_started import not_started
from shared.domain.explain.rules.job.out_of_memory import out_of_memory
from shared.domain.explain.rules.job.oversized_tasks import all_oversized, some_oversized
from shared.domain.explain.rules.job.unlimited_retries import unlimited_retries
from shared.domain.explain.rules.job.unmet_dependencies import all_dependent, some_dependent
from shared.domain.explain.rules.nodes.failing_nodes import failing_nodes
from shared.domain.explain.rules.nodes.full_disks import full_disks
from shared.domain.explain.rules.nodes.gpu_errors import gpu_errors
from shared.domain.explain.rules.nodes.preparation_failed import preparation_failed
from shared.domain.explain.rules.nodes.spot_notices import spot_notices
from shared.domain.explain.rules.nodes.unavailable_nodes import AFTER_RESIZES, BEFORE_RESIZES, PREEMPTIONS
from shared.domain.explain.rules.pool import autoscale_failed
from shared.domain.explain.rules.pool.deleting import deleting
from shared.domain.explain.rules.pool.empty import empty
from shared.domain.explain.rules.pool.missing import missing
from shared.domain.explain.rules.pool.resize_failed import resize_failed
from shared.domain.explain.rules.pool.resize_failed_before import resize_failed_before
from shared.domain.explain.rules.pool.resizing import resizing
from shared.domain.explain.rules.pool.target_zero import target_zero
from shared.domain.explain.rules.slots.higher_priority import higher_priority
from shared.domain.explain.rules.slots.older_jobs import older_jobs
from shared.domain.explain.rules.slots.preempted_tasks import preempted_tasks
from shared.domain.explain.rules.slots.slots_busy import slots_busy
from shared.domain.explain.rules.slots.slots_free import slots_free
from shared.domain.explain.texts import wait
from shared.domain.findings.finding import Finding

_NAMES = ("Azure ", "Batch ")
TURNS = ("higherPriorityJobs", "olderJobs", "slotsBusy")
"""Causes that end when it is the job's turn; relevant only to tasks that may start, as is its maxParallelTasks."""
_RANKS = {"blocking": 0, "limiting": 1, "info": 2}

OF_JOB: tuple[Rule, ...] = (deleted, expired, not_started, ended)
ON_THE_WAY: tuple[Rule, ...] = (
    disabled,
    all_dependent,
    missing,
    deleting,
    all_oversized,
    target_zero,
    autoscale_failed.at_target_zero,
    max_parallel_tasks,
    *BEFORE_RESIZES,
    autoscale_failed.at_its_target,
    resize_failed,
    *PREEMPTIONS,
    resizing,
    *AFTER_RESIZES,
    empty,
    autoscale_failed.below_its_target,
    preparation_failed,
    higher_priority,
    older_jobs,
    slots_busy,
    some_oversized,
    some_dependent,
    unlimited_retries,
    out_of_memory,
    full_disks,
    gpu_errors,
    spot_notices,
    preempted_tasks,
    resize_failed_before,
)
AT_REST: tuple[Rule, ...] = (disabled, no_waiting_tasks, unlimited_retries, out_of_memory)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Findings with the cause first, and a summary sentence; `running` means that tasks of the job run."""

    running: bool
    summary: str
    findings: tuple[Finding, ...]


def explain(evidence: Evidence) -> Explanation:
    """Returns the explanation that follows from the evidence."""
    rests = evidence.counts is not None and not evidence.waiting_tasks
    findings = _found(OF_JOB, evidence) or _found(AT_REST if rests else ON_THE_WAY, evidence)
    findings = _one_blocks(_ranked([*findings, *failing_nodes(evidence)]))
    if all(finding.severity == "info" for finding in findings):
        findings = [*_found((slots_free,), evidence), *findings]
    return Explanation(evidence.running_tasks > 0, _summary(evidence, findings), tuple(findings))


def _found(rules: tuple[Rule, ...], evidence: Evidence) -> list[Finding]:
    return [finding for rule in rules if (finding := rule(evidence))]


def _ranked(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _RANKS[finding.severity])


def _one_blocks(findings: list[Finding]) -> list[Finding]:
    """Demotes further blocking findings, and those about turns for slots, to notes: one blocking cause is enough."""
    if not findings or findings[0].severity != "blocking":
        return findings
    first, *others = findings
    demoted = [
        replace(finding, severity="info")
        if finding.severity == "blocking" or finding.rule in (*TURNS, "maxParallelTasks")
        else finding
        for finding in others
    ]
    return [first, *_ranked(demoted)]


def _summary(e: Evidence, findings: list[Finding]) -> str:
    first = findings[0] if findings else None
    cause = f": {_amid_sentence(first.title)}." if first else "."
    if e.counts is None:
        return f"Its tasks haven't been read yet{cause}"
    waiting, running = e.waiting_tasks, e.running_tasks
    if not waiting:
        if running:
            return f"It runs: {amount(running, 'task')} {'runs' if running == 1 else 'run'}, and none waits."
        return f"None of its tasks waits{cause}"
    is_blocked = first is not None and first.severity == "blocking"
    if is_blocked and running:
        none = "the one that waits doesn't start" if waiting == 1 else f"none of the {waiting:,} that wait starts"
        start = f"It runs {amount(running, 'task')}, and {none}"
    elif is_blocked:
        start = f"None of its {waiting:,} waiting tasks starts" if waiting > 1 else "Its waiting task doesn't start"
    else:
        runs = f"It runs {amount(running, 'task')}" if running else "None of its tasks runs"
        start = f"{runs}, and {waiting:,} {wait(waiting)}"
    return f"{start}{cause}" if first else f"{start}; what for couldn't be found out."


def _amid_sentence(title: str) -> str:
    return title if title.startswith(_NAMES) else f"{title[0].lower()}{title[1:]}"
