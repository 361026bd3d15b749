"""Selects from the events that the pool's nodes reported lately those that still say something about a node.

An event holds for its node until that starts again, and only while the node may take tasks: rules on nodes that can't
are about their state.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import timedelta

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.node_events import (
    DISK_FULL,
    GPU_ECC,
    GPU_XID,
    OOM_KILL,
    SPOT_PREEMPTION,
    START_TASK_HANG,
    node_sentence,
)
from shared.domain.explain.evidence import Evidence
from shared.domain.findings.finding import Amount, Finding
from shared.domain.findings.thresholds import MAX_EXAMPLES
from shared.domain.nodes.nodes import Node

KINDS = (OOM_KILL, DISK_FULL, GPU_XID, GPU_ECC, START_TASK_HANG, SPOT_PREEMPTION)
"""The kinds of events that rules conclude from."""
_WAITING_FOR_START = "waitingforstarttask"

type NodeReport = tuple[Node, BatchEvent]
"""A node and its latest event of some kind."""


def reported(
    e: Evidence, *kinds: str, within: timedelta | None = None, wants: Callable[[BatchEvent], bool] = lambda _: True
) -> list[NodeReport]:
    """Returns the nodes that may take tasks with the latest event of these kinds of each, the latest event first."""
    return list(_latest(e, e.nodes.able, kinds, lambda event: wants(event) and _is_within(e, event, within)))


def hanging_start_tasks(e: Evidence) -> list[Node]:
    """Returns the nodes that wait for a start task that hangs, by their agent's report; not those where it failed."""
    if not e.node_events:
        return []
    waiting = [node for node in e.nodes if node.state == _WAITING_FOR_START and not node.is_retried]
    return [node for node, _ in _latest(e, waiting, (START_TASK_HANG,), lambda _: True)]


def note_on(e: Evidence, code: str, reports: Sequence[NodeReport], **texts: str) -> Finding:
    """Returns the finding on one or more nodes by their agents' reports; `texts` are title, sentence and advice."""
    first = reports[:MAX_EXAMPLES]
    return e.about_pool(
        code,
        "info",
        **texts,
        evidence={
            "nodes": len(e.nodes),
            "affectedNodes": len(reports),
            "reports": tuple(f"{node.id}: {node_sentence(event)}" for node, event in first),
            "examples": tuple(node.id for node, _ in first),
        },
        since=min(event.at for _, event in reports),
        amount=Amount(len(reports), "nodes"),
    )


def _latest(
    e: Evidence, nodes: Sequence[Node], kinds: Collection[str], wants: Callable[[BatchEvent], bool]
) -> Iterator[NodeReport]:
    left = {node.key: node for node in nodes} if e.node_events else {}
    for event in sorted(e.node_events or (), key=lambda one: one.at, reverse=True):
        node = left.get(key_of(event.node or ""))
        if node and event.kind in kinds and _is_since_boot(node, event) and wants(event):
            del left[node.key]
            yield node, event


def _is_since_boot(node: Node, event: BatchEvent) -> bool:
    started = max(node.booted, node.allocated)
    return not started or event.at >= from_milliseconds(started)


def _is_within(e: Evidence, event: BatchEvent, within: timedelta | None) -> bool:
    return within is None or event.at >= e.now - within
