"""Nodes of the job's pool that don't start, are lost, away or disabled, each named as such.

Where no node can take tasks, the most frequent cause blocks. Where some can but have no room, it blocks only if the
nodes that get no tasks are as many. Replaceable nodes rank after resizes where the pool lacks more nodes than these.
"""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import partial

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import from_milliseconds
from shared.domain.explain.autoscale_formula import formula_sentences
from shared.domain.explain.evidence import Evidence, Found, Rule
from shared.domain.explain.node_events import hanging_start_tasks
from shared.domain.explain.pool_size import larger, replaced
from shared.domain.explain.rules.nodes import node_groups as groups
from shared.domain.explain.rules.nodes.node_groups import Group
from shared.domain.explain.rules.nodes.node_problems import common_problem
from shared.domain.findings.finding import Amount, Severity
from shared.domain.findings.thresholds import MAX_EXAMPLES
from shared.domain.nodes.node_causes import cause_of
from shared.domain.nodes.nodes import Node

_OF_ONE = {
    "are": "is", "were": "was", "have": "has", "get": "gets", "they": "it", "their": "its", "them": "it",
}  # fmt: skip


def _many(group: Group, e: Evidence) -> Found:
    return None if group.are_few(e) else _unavailable(e, group)


def _few(group: Group, e: Evidence) -> Found:
    """Returns the finding on nodes fewer than the pool lacks; findings on the missing nodes come first."""
    return _unavailable(e, group) if group.are_few(e) else None


BEFORE_RESIZES: tuple[Rule, ...] = tuple(partial(_many, group) for group in groups.LOST)
PREEMPTIONS: tuple[Rule, ...] = (partial(_many, groups.PREEMPTED),)
AFTER_RESIZES: tuple[Rule, ...] = (
    *(partial(_few, group) for group in (*groups.LOST, groups.PREEMPTED)),
    *(partial(_many, group) for group in groups.ON_THEIR_WAY),
)


def _unavailable(e: Evidence, group: Group) -> Found:
    facts, number, total = e.facts, group.count(e), e.states.total()
    if facts is None or facts.state != "active" or not number:
        return None
    severity = _severity(e, group)
    nodes = [node for node, state in zip(e.nodes, e.nodes.standings, strict=True) if state in group.states]
    problem = common_problem(nodes) if group is groups.UNUSABLE else None
    if problem:
        group = replace(group, title=f"{group.title}: {problem.title}", advice=f"{problem.advice} {{replaced}}")
    causes = Counter(cause_of(node) or node.state for node in nodes).most_common()
    means = f"{number:,} of {amount(total, 'node')} of the pool '{facts.id}' {group.means.format_map(_words(number))}."
    hanging = len(hanging_start_tasks(e)) if group is groups.STARTING else 0
    if hanging:
        means += f" The start task of {hanging:,} of them hangs, as the node agent reports."
    if causes and group.names_cause:
        means += f" {'The cause' if len(causes) == 1 else 'The most frequent cause'}: {causes[0][0]}"
    advice = group.advice.format(larger=larger(facts), replaced=replaced(facts), formula=formula_sentences(facts))
    if hanging:
        advice += " See what the start task waits for, in its stdout.txt and stderr.txt (directory startup)."
    elif group is groups.STARTING and any(node.state == "waitingforstarttask" for node in nodes):
        advice += " If it takes long, see what the start task does."
    return e.about_pool(
        group.rule,
        severity,
        title=_title(group.title, number, total),
        sentence=means,
        advice=advice,
        evidence={
            "nodes": total,
            "affectedNodes": number,
            "ableNodes": e.able,
            "causes": tuple(f"{count} x {cause}" for cause, count in causes[:MAX_EXAMPLES]),
            "examples": tuple(node.id for node in nodes[:MAX_EXAMPLES]),
            **({"hangingStartTasks": hanging} if hanging else {}),
        },
        since=_since(nodes),
        amount=Amount(number, "nodes"),
    )


def _title(form: str, number: int, total: int) -> str:
    """Returns `form` with the number of nodes: a few unfit nodes aren't the whole pool."""
    some = f"{number:,} of the pool's {amount(total, 'node')}"
    nodes = some if number < total else "the pool's nodes" if total > 1 else "the pool's only node"
    title = form.format(nodes=nodes, **_words(number))
    return f"{title[0].upper()}{title[1:]}"


def _words(number: int) -> dict[str, str]:
    """Returns the words of a sentence that differ between one node and several."""
    return {several: one if number == 1 else several for several, one in _OF_ONE.items()}


def _severity(e: Evidence, group: Group) -> Severity:
    number = group.count(e)
    is_main = not group.are_few(e) and number == max(groups.counts(e))
    if not e.able:
        return e.later_severity if is_main or e.severity == "info" else "limiting"
    if group is groups.STARTING and e.is_outranked:
        return "info"
    if e.pool_severity != "info" and is_main and groups.outweigh(e):
        return e.pool_severity
    return "limiting" if e.pool_severity != "info" and number >= e.able else "info"


def _since(nodes: list[Node]) -> datetime | None:
    """Returns when the first of these nodes entered its state."""
    stamps = [node.transition for node in nodes if node.transition]
    return from_milliseconds(min(stamps)) if stamps else None
