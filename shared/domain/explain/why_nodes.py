"""Causes in the nodes of the job's pool: nodes that don't start, are lost, away or disabled, each named as such.

Where no node can take tasks, the most frequent cause blocks. Where some can but have no room, it blocks only if the
nodes that get no tasks are as many. Replaceable nodes rank after resizes where the pool lacks more nodes than these.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import from_milliseconds
from shared.domain.explain.evidence import Evidence, standing_of
from shared.domain.explain.findings import Finding, Severity, Value
from shared.domain.explain.node_groups import (
    COMING,
    DEALLOCATED,
    FAILED,
    GROUPS,
    PREEMPTED,
    REBOOTING,
    REIMAGING,
    SHUT,
    UNREACHABLE,
    UNUSABLE,
    UPGRADED,
    Group,
)
from shared.domain.explain.node_problems import trouble_of
from shared.domain.explain.pool_growth import formula_sentences, larger, replaced
from shared.domain.nodes.node_causes import cause_of
from shared.domain.nodes.nodes import Node

type Rule = Callable[[Evidence], Finding | None]
_OF_ONE = {
    "are": "is", "were": "was", "have": "has", "get": "gets", "they": "it", "their": "its", "them": "it",
}  # fmt: skip


def _many(group: Group, e: Evidence) -> Finding | None:
    return None if _are_few(e, group) else _found(e, group)


def _few(group: Group, e: Evidence) -> Finding | None:
    """Returns the finding on nodes fewer than the pool lacks; findings on the missing nodes come first."""
    return _found(e, group) if _are_few(e, group) else None


BEFORE_RESIZES: tuple[Rule, ...] = tuple(
    partial(_many, group) for group in (FAILED, UNUSABLE, UNREACHABLE, SHUT, DEALLOCATED)
)
PREEMPTIONS: tuple[Rule, ...] = (partial(_many, PREEMPTED),)
AFTER_RESIZES: tuple[Rule, ...] = (
    *(partial(_few, group) for group in (UNUSABLE, UNREACHABLE, SHUT, DEALLOCATED, PREEMPTED)),
    *(partial(_many, group) for group in (COMING, REBOOTING, REIMAGING, UPGRADED)),
)


def _found(e: Evidence, group: Group) -> Finding | None:
    if e.pool is None or e.pool.facts.state != "active":
        return None
    number, total = _count(e, group), e.states.total()
    if not number:
        return None
    nodes = [node for node in e.nodes if standing_of(node) in group.states]
    causes = Counter(_cause(node) for node in nodes)
    evidence: dict[str, Value] = {
        "poolId": e.pool.facts.id,
        "nodes": total,
        "affectedNodes": number,
        "ableNodes": e.able,
        "causes": tuple(f"{count} x {cause}" for cause, count in causes.most_common(3)),
        "examples": tuple(node.id for node in nodes[:3]),
    }
    trouble = trouble_of(nodes) if group is UNUSABLE else None
    title = f"{_title(group.title, number, total)}{f': {trouble.title}' if trouble else ''}"
    detail = _detail(e.pool.facts.id, group, number, total, causes)
    return Finding(group.code, _severity(e, group), title, detail, _advice(e, group, nodes), evidence, _since(nodes))


def _detail(pool_id: str, group: Group, number: int, total: int, causes: Counter[str]) -> str:
    detail = f"{number:,} of {amount(total, 'node')} of the pool '{pool_id}' {group.means.format_map(_words(number))}."
    if causes and not group.is_plain:
        told = causes.most_common(1)[0][0]
        detail += f" {'The cause' if len(causes) == 1 else 'The most frequent cause'}: {told}"
    return detail


def _advice(e: Evidence, group: Group, nodes: list[Node]) -> str:
    """Returns the advice on this pool's growth, mentioning the start task only where one runs."""
    if e.pool is None:
        return group.advice
    facts = e.pool.facts
    if group is COMING:
        runs = any(node.state == "waitingforstarttask" for node in nodes)
        return f"{group.advice}{' If it takes long, see what the start task does.' if runs else ''}"
    trouble = trouble_of(nodes) if group is UNUSABLE else None
    advice = f"{trouble.advice} {{replaced}}" if trouble else group.advice
    advice = advice.replace("{larger}", larger(facts)).replace("{replaced}", replaced(facts))
    return f"{advice}{formula_sentences(facts) if group.names_formula else ''}"


def _title(form: str, number: int, total: int) -> str:
    """Returns `form` with the number of nodes: a few unfit nodes aren't the whole pool."""
    some = f"{number:,} of the pool's {amount(total, 'node')}"
    nodes = some if number < total else "the pool's nodes" if total > 1 else "the pool's only node"
    told = form.format(nodes=nodes, **_words(number))
    return f"{told[0].upper()}{told[1:]}"


def _words(number: int) -> dict[str, str]:
    """Returns the words of a sentence that differ between one node and several."""
    return {several: one if number == 1 else several for several, one in _OF_ONE.items()}


def _severity(e: Evidence, group: Group) -> Severity:
    number = _count(e, group)
    is_main = not _are_few(e, group) and number == max(_numbers(e))
    if not e.able:
        return e.later_severity if is_main or e.severity == "info" else "limiting"
    if group is COMING and e.is_outranked:
        return "info"
    if e.pool_severity != "info" and is_main and outweigh(e):
        return e.pool_severity
    return "limiting" if e.pool_severity != "info" and number >= e.able else "info"


def outweigh(e: Evidence) -> bool:
    """Returns whether nodes that get no tasks, for any reason, are as many as those that may get some."""
    number = sum(_numbers(e))
    return number > 0 and number >= e.able


def _numbers(e: Evidence) -> list[int]:
    """Returns the numbers of nodes that get no tasks, by reason, without groups smaller than the lack of nodes."""
    return [_count(e, group) for group in GROUPS if not _are_few(e, group)]


def _are_few(e: Evidence, group: Group) -> bool:
    return group.is_replaceable and _count(e, group) < e.awaited


def _count(e: Evidence, group: Group) -> int:
    states = e.states
    return sum(states[state] for state in group.states)


def _cause(node: Node) -> str:
    return cause_of(node) or node.state


def _since(nodes: list[Node]) -> datetime | None:
    """Returns when the first of these nodes entered its state."""
    stamps = [node.transition for node in nodes if node.transition]
    return from_milliseconds(min(stamps)) if stamps else None
