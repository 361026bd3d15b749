"""The record of all written units, which is the judge's truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from local.prove.ingest.samples import Sample


@dataclass(frozen=True, slots=True)
class Unit:
    """The start of a unit in its blob, its node, and its samples, unless it is unreadable (`is_bad`).

    A restart of a node's agent in the same blob begins another `session`. A sample with the tag `node_id` is of that
    node.
    """

    start: int
    node: str
    session: int
    samples: Sequence[Sample]
    is_bad: bool = False


@dataclass(slots=True)
class BlobLife:
    """A blob from its creation to its re-creation; then it `is_over`, and may have been read only in part."""

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
class LoggedEvent:
    """An event of Batch's log, which may have been delivered several times."""

    kind: str
    job: str
    task: str
    properties: Mapping[str, Any]


@dataclass(slots=True)
class WrittenData:
    """The record. `logged` has the delivery times of each event, `happenings` the events, by the same keys."""

    lives: list[BlobLife] = field(default_factory=list)
    happenings: dict[tuple[str, str, str], LoggedEvent] = field(default_factory=dict)
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
        """The written bytes."""
        return sum(life.size for life in self.lives) + sum(self.log_sizes.values())
