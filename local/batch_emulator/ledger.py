"""Numbers all that accounts hold, and notes what of it has changed, so that keeping costs what changed.

An entity is noted with the one it belongs to (a task with its job, a job with its account, an account with ROOT) and by
its identity: what it is like is read when the notes are taken. Nothing is noted unless somebody keeps it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

type Happening = Callable[[], None]


class Numbered(Protocol):
    """An entity; no other has its number."""

    @property
    def number(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Root:
    number: int = 0


ROOT = _Root()


@dataclass(slots=True)
class Notes:
    """Changes since the notes before: what is there with its owner, what is gone with its owner, plans by number.

    `wiped` says that nothing of before is there; `happened` are plans that were carried out, or dropped.
    """

    wiped: bool = False
    there: dict[Numbered, Numbered] = field(default_factory=dict)
    gone: dict[Numbered, Numbered] = field(default_factory=dict)
    planned: dict[int, tuple[int, Happening]] = field(default_factory=dict)
    happened: dict[int, Happening] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.wiped or self.there or self.gone or self.planned or self.happened)


class Ledger:
    """`last` is the last number given."""

    def __init__(self) -> None:
        self.last = 0
        self.is_kept = False
        self._notes = Notes()

    def number(self) -> int:
        """Numbers rise in the order of creation."""
        self.last += 1
        return self.last

    def note(self, entity: Numbered, owner: Numbered) -> None:
        """To be called whenever an entity is new or anything of it has changed, in the same step."""
        if self.is_kept:
            self._notes.there[entity] = owner

    def drop(self, entity: Numbered, owner: Numbered) -> None:
        """The entity is gone, and all that belongs to it."""
        if self.is_kept:
            self._notes.there.pop(entity, None)
            self._notes.gone[entity] = owner

    def plan(self, number: int, due: int, happening: Happening) -> None:
        if self.is_kept:
            self._notes.planned[number] = (due, happening)

    def happen(self, number: int, happening: Happening) -> None:
        """What was planned happens now, in this step."""
        if self.is_kept and self._notes.planned.pop(number, None) is None:
            self._notes.happened[number] = happening

    def wipe(self) -> None:
        """Nothing is there any more."""
        self._notes = Notes(wiped=True)

    def take(self) -> Notes:
        taken, self._notes = self._notes, Notes()
        return taken
