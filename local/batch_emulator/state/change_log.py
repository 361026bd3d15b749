"""Numbers all entities of accounts and records changes, so that the cost of storing depends on the changes.

An entity is marked by identity with its owner (a task with its job, a job with its account, an account with ROOT). Its
content is read when the changes are drained. Nothing is recorded unless accounts are stored.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

type PlannedEvent = Callable[[], None]


class NumberedEntity(Protocol):
    """An entity with a unique number."""

    @property
    def number(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Root:
    number: int = 0


ROOT = _Root()


@dataclass(slots=True)
class Changes:
    """Changes since the last `drain`: changed and deleted entities with their owners, and planned events by number.

    `cleared`: everything before was deleted. `executed` are planned events that were executed or dropped.
    """

    cleared: bool = False
    changed: dict[NumberedEntity, NumberedEntity] = field(default_factory=dict)
    deleted: dict[NumberedEntity, NumberedEntity] = field(default_factory=dict)
    planned: dict[int, tuple[int, PlannedEvent]] = field(default_factory=dict)
    executed: dict[int, PlannedEvent] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.cleared or self.changed or self.deleted or self.planned or self.executed)


class ChangeLog:
    """The change log; `last_number` is the number of the newest entity."""

    def __init__(self) -> None:
        self.last_number = 0
        self.is_enabled = False
        self._changes = Changes()

    def next_number(self) -> int:
        """Returns the next number; numbers rise in the order of creation."""
        self.last_number += 1
        return self.last_number

    def mark_changed(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Marks a new or changed entity; called in the same step as the change."""
        if self.is_enabled:
            self._changes.changed[entity] = owner

    def mark_deleted(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Marks an entity as deleted, with everything that it owns."""
        if self.is_enabled:
            self._changes.changed.pop(entity, None)
            self._changes.deleted[entity] = owner

    def mark_planned(self, number: int, due: int, event: PlannedEvent) -> None:
        if self.is_enabled:
            self._changes.planned[number] = (due, event)

    def mark_executed(self, number: int, event: PlannedEvent) -> None:
        """Marks a planned event as executed now, in this step."""
        if self.is_enabled and self._changes.planned.pop(number, None) is None:
            self._changes.executed[number] = event

    def clear(self) -> None:
        """Marks everything as deleted."""
        self._changes = Changes(cleared=True)

    def drain(self) -> Changes:
        changes, self._changes = self._changes, Changes()
        return changes
