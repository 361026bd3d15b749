"""What the writers have written, unit by unit: all that the judge knows of the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.prove.ingestion.samples import Sample


@dataclass(frozen=True, slots=True)
class Unit:
    """Where a unit begins in its blob and whose it is; its samples, unless it is a bad one.

    A node's `session` is another where its agent was started anew in the same blob. A sample with the tag `node_id` is
    of that node.
    """

    start: int
    node: str
    session: int
    samples: Sequence[Sample]
    is_bad: bool = False


@dataclass(slots=True)
class Life:
    """A blob from when it was made until it was made anew, `is_over` then: it may have been read in part only."""

    blob: str
    number: int
    units: list[Unit] = field(default_factory=list)
    size: int = 0
    is_over: bool = False
    is_sealed: bool = False

    @property
    def nodes(self) -> set[str]:
        return {sample.tags.get("node_id", unit.node) for unit in self.units for sample in unit.samples}


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of Batch's log, which may have been delivered several times."""

    kind: str
    job: str
    task: str
    properties: Mapping[str, Any]


@dataclass(slots=True)
class Book:
    """`logged` are the times of deliveries by event: the events of `happenings` by their job and task."""

    lives: list[Life] = field(default_factory=list)
    happenings: dict[tuple[str, str, str], Happening] = field(default_factory=dict)
    logged: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    log_sizes: dict[str, int] = field(default_factory=dict)
    bad_lines: list[tuple[str, int]] = field(default_factory=list)

    @property
    def nodes(self) -> list[str]:
        return sorted(set[str]().union(*(life.nodes for life in self.lives)))

    @property
    def samples(self) -> int:
        return sum(len(unit.samples) for life in self.lives for unit in life.units)

    @property
    def deliveries(self) -> int:
        return sum(map(len, self.logged.values()))

    @property
    def written(self) -> int:
        """Bytes."""
        return sum(life.size for life in self.lives) + sum(self.log_sizes.values())
