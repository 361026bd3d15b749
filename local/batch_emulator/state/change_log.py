"""Numbers all entities of accounts and records changes, so that the cost of storing depends on the changes.

An entity is noted by identity with its owner (a task with its job, a job with its account, an account with ROOT). Its
content is read when the notes are taken. Nothing is noted unless accounts are stored.
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
    """Changes since the previous notes: changed and deleted entities with their owners, and plans by number.

    `wiped`: everything before was deleted. `happened` are plans that were executed or dropped.
    """

    wiped: bool = False
    there: dict[NumberedEntity, NumberedEntity] = field(default_factory=dict)
    gone: dict[NumberedEntity, NumberedEntity] = field(default_factory=dict)
    planned: dict[int, tuple[int, PlannedEvent]] = field(default_factory=dict)
    happened: dict[int, PlannedEvent] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.wiped or self.there or self.gone or self.planned or self.happened)


class ChangeLog:
    """The change log; `last` is the last number given."""

    def __init__(self) -> None:
        self.last = 0
        self.is_kept = False
        self._notes = Changes()

    def number(self) -> int:
        """Returns the next number; numbers rise in the order of creation."""
        self.last += 1
        return self.last

    def note(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Notes a new or changed entity; called in the same step as the change."""
        if self.is_kept:
            self._notes.there[entity] = owner

    def drop(self, entity: NumberedEntity, owner: NumberedEntity) -> None:
        """Notes that an entity was deleted, with everything that it owns."""
        if self.is_kept:
            self._notes.there.pop(entity, None)
            self._notes.gone[entity] = owner

    def plan(self, number: int, due: int, event: PlannedEvent) -> None:
        if self.is_kept:
            self._notes.planned[number] = (due, event)

    def happen(self, number: int, event: PlannedEvent) -> None:
        """Notes that a planned event is executed now, in this step."""
        if self.is_kept and self._notes.planned.pop(number, None) is None:
            self._notes.happened[number] = event

    def wipe(self) -> None:
        """Notes that everything was deleted."""
        self._notes = Changes(wiped=True)

    def take(self) -> Changes:
        taken, self._notes = self._notes, Changes()
        return taken
