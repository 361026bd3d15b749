"""The start-ups of a pool's nodes that were allocated on one day (UTC), and their form in storage."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import msgspec

from shared.domain.nodes.start_ups import Reason, StartTaskKind, StartUp
from shared.domain.pools.start_up_figures import FiguresByGroup, PhaseFigures, StartUpFigures, figures_by

MAX_NODES = 10_000
"""Start-ups that a pool keeps of a day; nodes allocated afterwards on that day are left out."""


@dataclass(frozen=True, slots=True)
class StartUpDay:
    """Start-ups by node; `is_cut` where some were left out."""

    pool_key: str
    day: int
    start_ups: Mapping[str, StartUp] = field(default_factory=dict)
    is_cut: bool = False
    etag: str | None = None

    def with_changes(self, changed: Mapping[str, StartUp]) -> "StartUpDay":
        """Returns the day with new and changed start-ups, as many as it keeps."""
        new = [one for one in changed if one not in self.start_ups]
        dropped = new[max(MAX_NODES - len(self.start_ups), 0) :]
        kept = {node: one for node, one in changed.items() if node not in set(dropped)}
        return replace(self, start_ups={**self.start_ups, **kept}, is_cut=self.is_cut or bool(dropped))


class _Stored(NamedTuple):
    """A start-up: size and image by their number in the day's names, milestones as milliseconds since allocation."""

    node: str
    allocated: int
    vm_size: int
    image: int
    start_task: StartTaskKind
    milestones: list[int | None]
    worked: bool
    retried: bool
    ending: Reason | str


_MILESTONES = ("wished", "booted", "started", "ended", "ready", "busy", "first")


class _StoredDay(msgspec.Struct):
    names: list[str]
    nodes: list[_Stored]
    cut: bool = False


def plain_day(day: StartUpDay) -> Any:
    """Returns lists, texts and numbers, for storage."""
    names: dict[str, int] = {}
    stored = [_plain(one, lambda name: names.setdefault(name, len(names))) for one in day.start_ups.values()]
    return msgspec.to_builtins(_StoredDay(list(names), stored, day.is_cut))


def day_of_plain(pool_key: str, day: int, plain: Any) -> StartUpDay:
    """Returns the inverse of `plain_day`. Raises ValueError, LookupError."""
    stored = msgspec.convert(plain, _StoredDay)
    found = [_start_up(one, stored.names) for one in stored.nodes]
    return StartUpDay(pool_key, day, {one.node: one for one in found}, stored.cut)


def plain_figures(day: StartUpDay) -> Any:
    """Returns the figures of a day by VM size and image, for storage."""
    groups = figures_by(day.start_ups.values(), lambda one: (one.vm_size, one.image))
    return [[*group, figures.nodes, msgspec.to_builtins(figures.phases)] for group, figures in groups.items()]


def figures_of_plain(plain: Any) -> FiguresByGroup:
    """Returns the figures written by `plain_figures`. Raises ValueError."""
    stored = msgspec.convert(plain, list[tuple[str, str, int, tuple[PhaseFigures, ...]]])
    return {(size, image): StartUpFigures(nodes, phases) for size, image, nodes, phases in stored}


def _plain(one: StartUp, number: Callable[[str], int]) -> _Stored:
    moments = [getattr(one, name) for name in _MILESTONES]
    return _Stored(
        node=one.node,
        allocated=one.allocated,
        vm_size=number(one.vm_size),
        image=number(one.image),
        start_task=one.start_task,
        milestones=[moment - one.allocated if moment else None for moment in moments],
        worked=one.worked,
        retried=one.retried,
        ending=one.ending,
    )


def _start_up(one: _Stored, names: list[str]) -> StartUp:
    moments = [0 if after is None else one.allocated + after for after in one.milestones]
    plain = {
        **one._asdict(), "vm_size": names[one.vm_size], "image": names[one.image],
        **dict(zip(_MILESTONES, moments, strict=True)),
    }  # fmt: skip
    del plain["milestones"]
    return StartUp(**plain)
