"""The format of a node in its row: a list of values without names, as a pool has thousands of nodes."""

from itertools import batched
from typing import Any

from shared.domain.nodes.interruptions import Interruptions
from shared.domain.nodes.node_records import EarlierState, NodeRecord
from shared.domain.nodes.nodes import Node, NodeError, RecentTask, StartRun

_AGENT = Node._fields.index("agent")


def json_of_node(node: Node) -> list[Any]:
    """Returns a node's values in the order of its fields, without an unknown version of the agent."""
    start = list(node.start) if node.start else None
    *plain, _, _, _, recent_at, record, agent = node
    recent = [list(task) for task in node.recent]
    later = [agent] if agent else []
    return [*plain, start, [list(error) for error in node.errors], recent, recent_at, *_record_json(record), *later]


def _record_json(record: NodeRecord) -> list[Any]:
    """Flattens pairs, as a busy node has about twenty."""
    past, falls, seen = record.past, record.falls, record.interruptions
    spans = [number for pair in seen.recent for number in pair]
    told = [number for state in past for number in state]
    return [[record.since, list(falls), *seen[:3], spans, told]]


def node_of(values: list[Any]) -> Node:
    """Returns the node written by `json_of_node`; values that later versions add stand behind its own."""
    *plain, start, errors, recent, recent_at, record = values[:_AGENT]
    agent = values[_AGENT] if len(values) > _AGENT else ""
    pairs = tuple(NodeError(*error) for error in errors)
    tasks = tuple(RecentTask(*task) for task in recent)
    return Node._make((*plain, StartRun(*start) if start else None, pairs, tasks, recent_at, _record(record), agent))


def _record(values: list[Any]) -> NodeRecord:
    since, falls, total, unexplained, latest, spans, told = values
    recent = tuple(batched(spans, 2, strict=True))
    past = tuple(EarlierState(*pair) for pair in batched(told, 2, strict=True))
    return NodeRecord(since, past, tuple(falls), Interruptions(total, unexplained, latest, recent))
