"""The rows of a pool are a function of its nodes' rows: of any order, lateness, repetition, and division into blobs.

The model keeps every node's values by minute, and computes each statistic from them anew.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts, changed, changes_of
from shared.domain.telemetry.pools.blocks import MINUTES, lines_of, part_of, sources_of
from shared.domain.telemetry.pools.node_grid import NodeGrid, statistics_of
from shared.domain.telemetry.pools.node_metrics import HIGHEST
from shared.domain.telemetry.pools.node_minutes import BlobTail, Minutes, StepMinutes, step_minutes
from shared.domain.telemetry.pools.packed_tails import packed_tails, unpacked_tails
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups, merged

BEGIN = 29_766_960
SHARES = [
    Series("system.filesystem.utilization", (("system.device", name), ("system.filesystem.state", "used")))
    for name in ("sda", "sdb")
]
HIGHEST_SHARE = Series("system.filesystem.utilization", (HIGHEST, ("system.filesystem.state", "used")))
GAUGE, COUNTER = Series("system.memory.usage", (("system.memory.state", "used"),)), Series("system.process.created")
NODES = ("n1", "n2", "n3")
SHARD_OF = {"b1": "one", "b2": "one", "b3": "other", "b4": "other"}
WHOSE = {number: Identity("Pool", node) for number, node in enumerate(NODES)}


@dataclass
class Sample:
    """A value of a node in a step of a blob."""

    node: str
    minute: int
    value: int

    @property
    def rollups(self) -> Rollups:
        series = {GAUGE: self.value, COUNTER: self.value, SHARES[self.value % 2]: self.value / 1000}
        return {one: {self.minute: Rollup(1, value, value, value, value, self.minute)} for one, value in series.items()}


@dataclass
class Blob:
    """A blob with its tail, the hours of its committed steps by offset, and their rollups by node."""

    tail: BlobTail = field(default_factory=BlobTail)
    end: int = 0
    hours: dict[int, set[int]] = field(default_factory=dict)
    committed: dict[int, Rollups] = field(default_factory=dict)


SAMPLES = st.builds(
    Sample, node=st.sampled_from(NODES), minute=st.integers(BEGIN - 4, BEGIN + 13), value=st.integers(0, 1000)
)
STEPS = st.tuples(
    st.sampled_from(sorted(SHARD_OF)),
    st.lists(SAMPLES, min_size=1, max_size=6),
    st.sampled_from(("projected", "twice", "lost", "waits", "moved", "forgotten", "silent")),
)


@given(st.lists(STEPS, min_size=1, max_size=12), st.sampled_from((1, 2, 7, 10, 20)))
def test_statistics_over_a_pool_are_those_over_its_nodes(
    steps: list[tuple[str, list[Sample], str]], minutes: int
) -> None:
    blobs: dict[str, Blob] = defaultdict(Blob)
    shards: dict[str, dict[BlockKey, Parts]] = defaultdict(dict)
    waiting: dict[str, list[StepMinutes]] = defaultdict(list)
    for name, samples, fate in steps:
        blob = blobs[name]
        step: dict[int, Rollups] = {}
        for one in samples:
            number = NODES.index(one.node)
            step[number] = merged((step.get(number, {}), one.rollups))
            blob.committed[number] = merged((blob.committed.get(number, {}), one.rollups))
        blob.hours[blob.end] = {one.minute // 60 for one in samples}
        begin, blob.end = blob.end, blob.end + 10
        if fate == "lost":
            continue
        waiting[name].append(step_minutes(begin, blob.end, step, WHOSE, is_renamed=False))
        if fate == "moved":  # to another host
            blob.tail = unpacked_tails(packed_tails({name: blob.tail}, 0))[name]
        if fate == "silent":
            blob.tail = blob.tail.without_minutes()
        if fate == "forgotten":
            blob.tail = BlobTail()
        if fate != "waits":
            for _ in range(2 if fate == "twice" else 1):
                project_steps(shards[SHARD_OF[name]], name, blob, waiting[name])
            waiting[name].clear()
    for name, blob in blobs.items():  # the comparison with what was committed
        project_steps(shards[SHARD_OF[name]], name, blob, [*waiting[name], StepMinutes(blob.end, blob.end)])
    assert_is_its_nodes(shards, blobs, minutes)


def project_steps(rows: dict[BlockKey, Parts], name: str, blob: Blob, steps: list[StepMinutes]) -> None:
    """Projects steps as a host does, which reads what it doesn't know from the blob's own rows."""
    before = blob.tail.end
    minutes = blob.tail.completed(steps)
    stored = step_minutes(0, 0, blob.committed, WHOSE, is_renamed=False).values
    missed = {hour for begin, hours in blob.hours.items() if minutes.is_gap and begin >= before for hour in hours}
    unread = {*minutes.unread, *(minute for minute in stored if minute // 60 in missed)}
    if unread or minutes.is_gap:
        blob.tail.learn(max(stored))
    assert not minutes.values or steps[-1].end > before
    project(rows, name, {**minutes.values, **{minute: stored[minute] for minute in unread}})


def project(rows: dict[BlockKey, Parts], blob: str, values: Minutes) -> None:
    changes = defaultdict(list)
    for key, change in changes_of(blob, values, ()):
        changes[key].append(change)
    rows |= changed(rows, changes)


type Shards = Mapping[str, Mapping[BlockKey, Parts]]


def assert_is_its_nodes(shards: Shards, blobs: Mapping[str, Blob], minutes: int) -> None:
    for metric in (GAUGE, COUNTER, HIGHEST_SHARE):
        wanted = defaultdict(list)
        for number in range(len(NODES)):
            parts = [blob.committed.get(number, {}) for blob in blobs.values()]
            for step, some in by_step(parts, metric, minutes).items():
                seconds = 60 * len({minute for minute, _ in some})
                count = seconds if metric is COUNTER else sum(one.count for _, one in some)
                wanted[step].append(sum(one.sum for _, one in some) / count)
        grid = grid_of(shards, metric, is_fine=bool(minutes % MINUTES))
        found = dict(grid.steps(minutes))
        assert found.keys() == wanted.keys()
        for step, values in wanted.items():
            assert found[step] == pytest.approx(statistics_of(values))
            assert found[step].mean == pytest.approx(sum(values) / len(values))
            assert found[step].max == pytest.approx(max(values))


def by_step(parts: Sequence[Rollups], metric: Series, minutes: int) -> dict[int, list[tuple[int, Rollup]]]:
    """Returns a node's rollups of a metric in its blobs, with their minutes, by step; of devices the highest."""
    found = defaultdict(list)
    for part in parts:
        devices = [part[one] for one in SHARES if one in part] if metric is HIGHEST_SHARE else [part.get(metric, {})]
        for minute in {minute for device in devices for minute in device}:
            some = [device[minute] for device in devices if minute in device]
            highest = max(some, key=lambda one: one.sum / one.count)
            found[minute // minutes * minutes].append((minute, highest))
    return found


def grid_of(shards: Mapping[str, Mapping[BlockKey, Parts]], metric: Series, *, is_fine: bool) -> NodeGrid:
    grid = NodeGrid(metric)
    for rows in shards.values():
        for (pool, number), parts in rows.items():
            assert pool == "pool"
            part = parts.get(part_of(metric.name))
            if part is None or metric.name not in part.minutes:
                continue
            places = grid.places_of([source.node for source in sources_of(part.sources)])
            for line in lines_of((part.minutes if is_fine else part.totals)[metric.name]):
                if line.attributes != metric.attributes:
                    continue
                if is_fine:
                    grid.add_minutes(number, places, line, range(BEGIN - 100, BEGIN + 100))
                else:
                    grid.add_block(number, places, line)
    return grid


@given(st.lists(SAMPLES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_same_rows_come_out_in_any_order_and_however_often(samples: list[Sample], random: Random) -> None:
    changes = []
    for number, some in enumerate(batched(samples, 5, strict=False)):
        rollups = {NODES.index(one.node): one.rollups for one in some}
        changes.append((f"b{number}", step_minutes(0, 0, rollups, WHOSE, is_renamed=False).values))
    one: dict[BlockKey, Parts] = {}
    for blob, values in changes:
        project(one, blob, values)
    again = [*changes, *changes]
    random.shuffle(again)
    other: dict[BlockKey, Parts] = {}
    for blob, values in again:
        project(other, blob, values)
    assert other == one


def test_percentiles_are_values_of_nodes() -> None:
    assert statistics_of([3.0]) == (1, 3, 3, 3, 3)
    assert statistics_of([float(number) for number in range(100, 0, -1)]) == (100, 50.5, 50, 95, 100)


def test_minutes_of_a_node_that_turns_out_to_be_another_leave_no_trace() -> None:
    rows: dict[BlockKey, Parts] = {}
    sample = {0: Sample("n1", BEGIN, 5).rollups}
    unknown, known = Identity("", "host"), Identity("Pool", "n1")
    project(rows, "b1", step_minutes(0, 0, sample, {0: unknown}, is_renamed=False).values)
    assert set(rows) == {("", BEGIN // MINUTES)}
    for key, change in changes_of("b1", step_minutes(0, 0, sample, {0: known}, is_renamed=True).values, {""}):
        rows |= changed(rows, {key: [change]})
    assert {key for key, parts in rows.items() if any(part.minutes for part in parts.values())} == {
        ("pool", BEGIN // MINUTES)
    }
