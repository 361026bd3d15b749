"""Causes that lie in the nodes of the job's pool: they don't come up, are lost, shut, or unfit for this job.

Where no node can take tasks the most frequent cause is the one that blocks. Where some can and have no room, it is so
only if those that get none are as many. Nodes that are unusable, shut or preempted come behind a resize that didn't
bring more than they are, or hasn't yet.
"""

from collections import Counter
from datetime import datetime

from shared.domain.amounts import amount, are
from shared.domain.evidence import COMING, Evidence, Finding, Severity, Value, standing_of
from shared.domain.node_causes import cause_of
from shared.domain.nodes import START_TASK_FAILED, Node
from shared.domain.stamps import from_milliseconds

_GROUPS = {
    "failed": (START_TASK_FAILED,),
    "unusable": ("unusable", "unknown"),
    "preempted": ("preempted",),
    "shut": ("offline", "deallocating", "deallocated"),
    "coming": COMING,
}
_REPLACEABLE = ("unusable", "preempted", "shut")  # more nodes would do; where start tasks fail they would fail as well
_OF_ONE = {
    "are": "is", "were": "was", "have": "has", "get": "gets", "they": "it", "their": "its", "them": "it",
}  # fmt: skip
_PLAIN = ("preempted", "shut")  # of which a node tells no more than its state does


def start_task_failed(e: Evidence) -> Finding | None:
    return _found(
        e,
        "failed",
        "startTaskFailed",
        "the start task fails on {nodes}",
        "failed {their} start task and {get} no tasks",
        "See stdout.txt and stderr.txt of the start task on such a node (directory startup), correct the pool's start "
        "task, and reimage the nodes. With waitForSuccess false tasks don't wait for it.",
    )


def unusable(e: Evidence) -> Finding | None:
    return None if _are_few(e, "unusable") else _unusable(e)


def few_unusable(e: Evidence) -> Finding | None:
    """Fewer than the nodes that the pool lacks: what keeps those comes first."""
    return _unusable(e) if _are_few(e, "unusable") else None


def _unusable(e: Evidence) -> Finding | None:
    return _found(
        e,
        "unusable",
        "nodesUnusable",
        "{nodes} {are} unusable",
        "can't be used or reached by Batch, and {get} no tasks",
        "Reboot or reimage the nodes, or remove them and let the pool grow again. If it happens again, see whether "
        "the network lets nodes reach Batch and storage, the image's own agent, and whether their disks fill up.",
    )


def preempted(e: Evidence) -> Finding | None:
    return None if _are_few(e, "preempted") else _preempted(e)


def few_preempted(e: Evidence) -> Finding | None:
    """Fewer than the nodes that the pool lacks, which may be on their way: what is told of those comes first."""
    return _preempted(e) if _are_few(e, "preempted") else None


def _preempted(e: Evidence) -> Finding | None:
    return _found(
        e,
        "preempted",
        "nodesPreempted",
        "{nodes} {were} preempted",
        "{were} taken back by Azure; what ran there waits to run again",
        "Batch replaces spot nodes when there is capacity again, nobody knows when. If it can't wait, add dedicated "
        "nodes, or use another VM size or region.",
    )


def shut(e: Evidence) -> Finding | None:
    return None if _are_few(e, "shut") else _shut(e)


def few_shut(e: Evidence) -> Finding | None:
    """Fewer than the nodes that the pool lacks: what keeps those comes first."""
    return _shut(e) if _are_few(e, "shut") else None


def _shut(e: Evidence) -> Finding | None:
    return _found(
        e,
        "shut",
        "nodesOffline",
        "scheduling is switched off on {nodes}",
        "{get} no tasks: somebody disabled scheduling on {them} or deallocated {them}",
        "Enable scheduling on the nodes, start those that are deallocated, or remove them so that the pool replaces "
        "them.",
    )


def coming(e: Evidence) -> Finding | None:
    return _found(
        e,
        "coming",
        "nodesStarting",
        "{nodes} {are} still starting",
        "{get} tasks once {they} {have} started and {their} start task has succeeded",
        "Wait. If it takes long, see what the start task does.",
    )


def _found(e: Evidence, group: str, code: str, title: str, means: str, advice: str) -> Finding | None:  # noqa: PLR0917
    if e.pool is None or e.pool.facts.state != "active":
        return None
    number, total = _count(e, group), e.states.total()
    if not number:
        return None
    nodes = [node for node in e.nodes if standing_of(node) in _GROUPS[group]]
    causes = Counter(_cause(node) for node in nodes)
    told = causes.most_common(1)[0][0] if causes else ""
    evidence: dict[str, Value] = {
        "poolId": e.pool.facts.id,
        "nodes": total,
        "affectedNodes": number,
        "ableNodes": e.able,
        "causes": tuple(f"{count} x {cause}" for cause, count in causes.most_common(3)),
        "examples": tuple(node.id for node in nodes[:3]),
    }
    detail = (
        f"{number:,} of {amount(total, 'node')} of the pool '{e.pool.facts.id}' {means.format_map(_words(number))}."
    )
    if told and group not in _PLAIN:
        detail += f" {'The cause' if len(causes) == 1 else 'The most frequent cause'}: {told}"
    return Finding(code, _severity(e, group), _title(title, number, total), detail, advice, evidence, _since(nodes))


def _title(form: str, number: int, total: int) -> str:
    """The `form` with how many nodes that is: a few that are unfit aren't the pool."""
    some = f"{number:,} of the pool's {amount(total, 'node')}"
    nodes = some if number < total else "the pool's nodes" if total > 1 else "the pool's only node"
    told = form.format(nodes=nodes, **_words(number))
    return f"{told[0].upper()}{told[1:]}"


def _words(number: int) -> dict[str, str]:
    """What changes in a sentence about one node, or several."""
    return {several: one if number == 1 else several for several, one in _OF_ONE.items()}


def _severity(e: Evidence, group: str) -> Severity:
    number = _count(e, group)
    is_main = not _are_few(e, group) and number == max(_numbers(e))
    if not e.able:
        return e.later_severity if is_main or e.severity == "info" else "limiting"
    if e.pool_severity != "info" and is_main and outweigh(e):
        return e.pool_severity
    return "limiting" if e.pool_severity != "info" and number >= e.able else "info"


def outweigh(e: Evidence) -> bool:
    """True where nodes that get no tasks, for whatever reason, are as many as those that may get some."""
    number = sum(_numbers(e))
    return number > 0 and number >= e.able


def _numbers(e: Evidence) -> list[int]:
    """Nodes that get no tasks by reason, without those that are few beside what the pool lacks."""
    return [_count(e, group) for group in _GROUPS if not _are_few(e, group)]


def _are_few(e: Evidence, group: str) -> bool:
    return group in _REPLACEABLE and _count(e, group) < e.awaited


def _count(e: Evidence, group: str) -> int:
    states = e.states
    return sum(states[state] for state in _GROUPS[group])


def _cause(node: Node) -> str:
    return cause_of(node) or node.state


def _since(nodes: list[Node]) -> datetime | None:
    """When the first of them came to this."""
    stamps = [node.transition for node in nodes if node.transition]
    return from_milliseconds(min(stamps)) if stamps else None


def preparation_failed(e: Evidence) -> Finding | None:
    """Nodes on which this job's preparation failed take no tasks of it, whatever they do for other jobs.

    Beside nodes that do they limit only if they are as many.
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
