"""Entities of accounts as rows of JSON: an entity's own fields in order, with numbers for other entities.

Derived data is omitted: counts, queues, lists of nodes and runs. A run is part of its task's row. A change of any
field, or of the name or parameters of any method that is planned as an event, needs a new format. Kinds of rows and
names of events are stored, so they keep names that their classes no longer have.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from typing import Any

import orjson

from local.batch_emulator.entities import (
    Account,
    AutoScaleState,
    Failure,
    Job,
    Lease,
    Node,
    Pool,
    PreparationStatus,
    Run,
    SatisfiedDependency,
    Schedule,
    StartTask,
    Task,
)
from local.batch_emulator.state.change_log import Changes, PlannedEvent

FORMAT = 7
PLANNED_EVENT = "happening"
type EventOwners = Mapping[object, tuple[Account, str]]
_ENTITIES = (Pool, Node, Job, Schedule, Run, PreparationStatus)
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row; `names` are its fields."""

    name: str
    names: tuple[str, ...]
    values: Callable[[Any], Any]

    def named(self, row: list[Any]) -> dict[str, Any]:
        return dict(zip(self.names, row, strict=True))


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Changes to store together: `rows` is JSON of [owner, number, kind, row], `deleted` of [owner, number]."""

    cleared: bool
    rows: bytes
    deleted: bytes
    deleted_owners: tuple[int, ...]


def _kind(entity: type, *, without: str = "", name: str = "") -> RowKind:
    names = tuple(each.name for each in fields(entity) if each.name not in without.split())
    return RowKind(name or entity.__name__.lower(), names, attrgetter(*names))


KINDS: Mapping[type, RowKind] = {
    Account: _kind(Account, without="jobs pools schedules leases task_counters"),
    Pool: _kind(Pool, without="account scheduling_index nodes is_scheduling_planned lagged_node_counts"),
    Node: _kind(Node, without="pool entered runs visible_runs"),
    Schedule: _kind(Schedule),
    Job: _kind(
        Job, without="account tasks task_counts ready_tasks dependencies runs preparation_statuses failed_preparations"
    ),
    Task: _kind(Task, without="ticket open_dependencies has_started attempts"),
    PreparationStatus: _kind(PreparationStatus, name="side"),
    StartTask: _kind(StartTask),
    AutoScaleState: _kind(AutoScaleState, without="history", name="scaling"),
    SatisfiedDependency: _kind(SatisfiedDependency, name="satisfied"),
    Lease: _kind(Lease),
}


def row_changes(changes: Changes, owners: EventOwners, state: object) -> RowChanges:
    """Returns the changes, with `state` as ROOT's own row; called while nothing else changes."""
    rows: list[object] = [(0, 0, "emulator", state)]
    for entity, owner in changes.changed.items():
        kind = KINDS[type(entity)]
        rows.append((owner.number, entity.number, kind.name, kind.values(entity)))
    for number, (due, event) in changes.planned.items():
        if target := _target(event, owners):
            account, name = target
            rows.append((account.number, number, PLANNED_EVENT, (due, name, _arguments(event))))
    deleted = [(owner.number, entity.number) for entity, owner in changes.deleted.items()]
    deleted += [(target[0].number, n) for n, each in changes.executed.items() if (target := _target(each, owners))]
    deleted_owners = tuple(entity.number for entity in changes.deleted if isinstance(entity, (Job, Pool)))
    return RowChanges(changes.cleared, orjson.dumps(rows, _json_value, _OPTIONS), orjson.dumps(deleted), deleted_owners)


def _target(event: PlannedEvent, owners: EventOwners) -> tuple[Account, str] | None:
    """Returns an event's account and stored name, such as `tasks._finish`; None for events that are re-created."""
    method = event.func if isinstance(event, partial) else None
    found = owners.get(getattr(method, "__self__", None))
    return (found[0], f"{found[1]}.{method.__name__}") if found and method else None


def _arguments(event: PlannedEvent) -> list[object]:
    return [_argument(each) for each in event.args] if isinstance(event, partial) else []


def _argument(value: object) -> object:
    """Returns a parameter as JSON that identifies its kind."""
    if isinstance(value, _ENTITIES):
        return {"number": value.number}
    if isinstance(value, Failure):
        return {"failure": value}
    return [_argument(each) for each in value] if isinstance(value, list | tuple) else value


def _json_value(value: object) -> object:
    """Converts values that orjson can't write."""
    if isinstance(value, Run):
        others = [node.number for node in value.others]
        return (value.number, value.node.number, value.started, value.visible_phase, others)
    if isinstance(value, Failure):
        return (value.category, value.code, value.message, value.details)
    if isinstance(value, StartTask | AutoScaleState):
        return KINDS[type(value)].values(value)
    if isinstance(value, Task):
        return value.key
    if isinstance(value, _ENTITIES):
        return value.number
    if isinstance(value, set | deque):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no row")
