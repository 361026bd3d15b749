"""The agents' measurements, generated from a seed, and the series of each value.

The series names are repeated here, from docs/metrics.md, so that the judge depends on no code of the app.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

SECOND = 1_000_000_000  # nanoseconds
_INTERVAL = 5 * SECOND
_MEMORY = 8 << 30
_MIN_PAUSE, _MAX_JITTER = 1, 900  # milliseconds
_ODD = 0.05  # share of records with an additional tag, and of those with an additional field
UNKNOWN = "fuel"
"""A measurement that isn't in the catalog, so its numbers are custom metrics."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A record of an agent; `at` in nanoseconds since 1970."""

    name: str
    tags: Mapping[str, str]
    fields: Mapping[str, int | float | str]
    at: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """The series of a field, without attributes from tags."""

    series: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    factor: float = 1.0
    is_counter: bool = False


MEANINGS: Mapping[tuple[str, str], Meaning] = {
    ("mem", "used"): Meaning("system.memory.usage", {"system.memory.state": "used"}),
    ("system", "load1"): Meaning("system.cpu.load_average.1m"),
    ("cpu", "usage_user"): Meaning("system.cpu.utilization", {"cpu.mode": "user"}, 0.01),
    ("net", "bytes_recv"): Meaning("system.network.io", {"network.io.direction": "receive"}, is_counter=True),
    ("diskio", "read_bytes"): Meaning("system.disk.io", {"disk.io.direction": "read"}, is_counter=True),
    (UNKNOWN, "litres"): Meaning("custom.fuel.litres"),
}
TAGS = {"cpu": ("cpu", "cpu.logical_number"), "net": ("interface", "network.interface.name"),
        "diskio": ("name", "system.device")}  # fmt: skip
RUN = ("job_id", "task_id", "task_attempt")
"""Tags that distinguish the runs on a node."""
RECORDS = frozenset(("task_env",))
"""Known measurements without a series, which no count includes."""


def attributes_of(sample: Sample, meaning: Meaning) -> tuple[tuple[str, str], ...]:
    """Returns the attributes of a field's series, sorted by name."""
    found = dict(meaning.attributes)
    if sample.name in TAGS:
        tag, attribute = TAGS[sample.name]
        found[attribute] = sample.tags[tag].removeprefix("cpu")
    return tuple(sorted(found.items()))


class Agent:
    """Measures a node every five seconds, from a given time."""

    def __init__(self, chance: random.Random, begin: int, *, whole_seconds: bool = False) -> None:
        self._chance, self._at, self._whole = chance, begin, whole_seconds
        self._counters: dict[str, int] = {}

    def interval(self, tags: Mapping[str, str], *, life: int | None = None) -> list[Sample]:
        """Returns the measurements of the next moment, each with additional tags.

        With `life`, series are specific to a life of a blob: they contain its number. Without it, memory and load are
        added.
        """
        self._at += _INTERVAL
        jitter = 0 if self._whole else self._chance.randint(_MIN_PAUSE, _MAX_JITTER) * 1_000_000
        at, chance, number = self._at + jitter, self._chance, life or 0
        found = [
            self._one("cpu", {"cpu": f"cpu{number}", **tags}, {"usage_user": chance.randrange(800) / 8}, at),
            self._one("net", {"interface": f"eth{number}", **tags}, {"bytes_recv": self._grown("net")}, at),
            self._one("diskio", {"name": f"nvme{number}n1", **tags}, {"read_bytes": self._grown("diskio")}, at),
        ]
        if life is None:
            memory = {"used": chance.randrange(_MEMORY), "nothing_known": 7}
            found.append(Sample("mem", dict(tags), memory, at))
            found.append(Sample("system", dict(tags), {"load1": chance.randrange(640) / 16}, at))
        if chance.random() < 0.05:  # noqa: PLR2004
            found.append(Sample(UNKNOWN, dict(tags), {"litres": 7, "note": "of\nno use"}, at))
        return found

    def _one(self, name: str, tags: Mapping[str, str], fields: Mapping[str, int | float], at: int) -> Sample:
        """Returns a record, sometimes with an additional tag or field, which only changes its layout."""
        more_tags = {"rack": "r1"} if self._chance.random() < _ODD else {}
        more_fields = {"spare": 7} if self._chance.random() < _ODD else {}
        return Sample(name, {**tags, **more_tags}, {**fields, **more_fields}, at)

    def _grown(self, name: str) -> int:
        """Returns a counter's next reading; sometimes the counter resets."""
        begins_anew = self._chance.random() < 0.02  # noqa: PLR2004
        before = 0 if begins_anew else self._counters.get(name, 1_000_000)
        self._counters[name] = before + self._chance.randrange(1 << 20)
        return self._counters[name]
