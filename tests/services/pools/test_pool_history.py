"""A pool's history is true at every poll, for any sequence of changes to pools, polls and processes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS
from shared.domain.history.points import Point
from shared.domain.nodes.nodes import summary_of
from shared.domain.pools.pool_samples import PoolNumbers
from shared.errors import HistoryRangeError, NotFoundError
from tests.services.fakes.fake_pools import SLOTS, Nodes, TruePool
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.pool_housekeeping import housekeeping
from tests.services.worlds.pool_world import START, PoolWorld
from tests.services.worlds.process import ACCOUNT

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
STATES = ("idle", "running", "preempted", "unusable")


@pytest.fixture
def world() -> Iterator[PoolWorld]:
    world = PoolWorld()
    yield world
    world.close()


def history(world: PoolWorld, *, since: datetime = START, minutes: int = 1) -> list[Point[PoolNumbers]]:
    """Returns the history from a process with empty memory."""
    step = timedelta(minutes=minutes)
    return list(world.run(world.started().histories.read("demo", "Alpha", since=since, step=step)).points)


class Diary:
    """Records the truth at successful polls, which the history must match: pools change only between polls."""

    def __init__(self, world: PoolWorld, nodes: int = 3) -> None:
        self.world = world
        self.pool = world.create("Alpha", nodes)
        self.polled: list[datetime] = []
        self.attempts: list[datetime] = []
        self.taken: set[tuple[str, int]] = set()
        self.seen: set[tuple[str, int]] = set()

    def poll(self, who: int = 0, *, fault: Fault | None = None, both: tuple[float, float] | None = None) -> None:
        """Polls a minute after the last poll, with one process or both concurrently; the first gets the fault."""
        world = self.world
        world.wait(41)
        at = world.now().replace(microsecond=0)
        if both:
            world.poll_both(both, fault)
        else:
            world.poll(who, fault=fault)
        self.attempts.append(at)
        if fault is None and not both:
            self.polled.append(at)
            self.seen |= self.taken & preempted(self.pool.at(at))
        world.wait((at + MINUTE - timedelta(seconds=41) - world.now()).total_seconds())

    def change(self, node: int, state: str) -> None:
        names = sorted(self.pool.at(self.world.now()))
        name = names[node % len(names)]
        before = preempted(self.pool.at(self.world.now()))
        self.world.change_node(self.pool, name, state, slots=node % SLOTS if state == "running" else 0)
        if self.polled:
            self.taken |= preempted(self.pool.at(self.world.now())) - before

    def check(self) -> None:
        points = history(self.world)
        for point in points:
            if point.numbers is None:
                assert point == Point(point.time)
                continue
            assert point.as_of
            assert point.time - 3 * MINUTE <= point.as_of <= point.time
            found = (point.numbers.counts, point.numbers.used, point.numbers.tasks, point.exact)
            assert found in self._possible(point.as_of), f"as of {point.as_of}"
        for at in self.polled:
            shown = next((point for point in points if at + timedelta(seconds=20) > point.time >= at), None)
            if shown:
                assert shown.as_of, f"nothing is told of {at}, when a poll ended well"
                assert shown.as_of >= at
        (known,) = (pool for pool in self.world.known().resources.values() if pool.facts.id == "Alpha")
        assert known.snapshot
        assert known.snapshot.tally
        total = known.snapshot.tally.interruptions.total
        assert len(self.seen) <= total <= len(self.taken)
        stored = self.world.stored("Alpha").values()
        assert sum(node.record.interruptions.total for node in stored) == total
        steps = [point.increase for point in points]
        if None not in steps[steps.index(next(n for n in steps if n is not None)) :]:
            assert sum(number or 0 for number in steps) == total

    def _possible(self, as_of: datetime) -> list[tuple[Any, ...]]:
        """Returns all results that polls may have found since the last successful one."""
        last = max((at for at in self.polled if at <= as_of), default=START)
        looked = [self.pool.at(at) for at in self.attempts if last <= at <= as_of]
        found = [summary_of(nodes.values(), SLOTS) for nodes in looked]
        return [(summary.counts, summary.used, summary.tasks, True) for summary in found]


def preempted(nodes: Nodes) -> set[tuple[str, int]]:
    return {(name, node.transition) for name, node in nodes.items() if node.state == "preempted"}


changes = st.none() | st.tuples(st.integers(0, 2), st.sampled_from(STATES))
polls = st.tuples(
    changes,
    st.integers(0, 1),
    st.none() | st.builds(Fault, call=st.integers(1, 9), committed=st.booleans(), kills=st.booleans()),
    st.none() | st.sampled_from([(0.0, 0.0), (0.0, 2.0), (2.0, 0.5), (1.0, 1.0)]),
)


@given(st.lists(polls, min_size=3, max_size=16))
def test_the_points_show_the_truth_at_every_poll(
    story: list[tuple[tuple[int, str] | None, int, Fault | None, tuple[float, float] | None]],
) -> None:
    world = PoolWorld()
    try:
        diary = Diary(world)
        diary.poll()
        for change, who, fault, both in story:
            if change:
                diary.change(*change)
            diary.poll(who, fault=fault, both=both)
        diary.poll()
        diary.poll()
        diary.check()
    finally:
        world.close()


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("minute", range(10, 13))
@pytest.mark.parametrize("call", range(1, 7))
def test_a_death_at_any_call_loses_nothing(world: PoolWorld, call: int, *, minute: int, committed: bool) -> None:
    """Covers polls that merge into the history and polls that don't."""
    diary = Diary(world)
    for number in range(16):
        diary.change(number, STATES[(number // 3 + 3) % 4])  # the round that dies sees an interruption
        diary.poll(fault=Fault(call, committed=committed, kills=True) if number == minute else None)
    diary.poll()
    diary.check()
    assert len({point.numbers for point in history(world)} - {None}) >= 13  # the round that died may be missing


def test_an_unchanged_pool_costs_no_call_to_storage(world: PoolWorld) -> None:
    diary = Diary(world)
    for _ in range(3):
        diary.poll()
    writes = len(world.storage.writes)
    for _ in range(12):
        diary.poll()
        assert world.table_calls == 2
    assert set(world.storage.writes[writes:]) == {"accounts"}


def test_pools_that_change_share_transactions_of_history_and_take_turns(world: PoolWorld) -> None:
    diaries = [TruePool(f"pool-{number:02}", world.now()) for number in range(20)]
    world.service.pools += diaries
    for pool in diaries:
        world.add_node(pool)
    calls = []
    for turn in range(30):
        for pool in diaries:
            world.change_node(pool, min(pool.at(world.now())), STATES[turn % 2])
        world.wait(60)
        world.poll()
        calls.append(world.table_calls)
    usual = 3 + 3  # the round's row read twice and written, nodes, pools, and history together
    assert max(calls[2:15]) <= usual
    assert calls[15] <= usual + 2  # after a quarter of an hour all pools are read in full, and nodes named in heads
    assert max(calls[16:]) <= usual
    rows = world.storage.writes.count("poolhistory")
    assert rows <= 20 * (3 + 1) * 2


def test_a_pool_that_rests_for_hours_has_no_gap(world: PoolWorld) -> None:
    diary = Diary(world)
    diary.poll()
    for _ in range(150):
        diary.poll()
    diary.change(0, "running")
    for _ in range(4):
        diary.poll()
    assert [point.time for point in history(world)[1:] if point.numbers is None] == []
    diary.check()


def test_time_without_polls_is_a_gap(world: PoolWorld) -> None:
    diary = Diary(world)
    for _ in range(4):
        diary.poll()
    world.wait(600)
    diary.change(0, "running")
    for _ in range(4):
        diary.poll()
    gaps = [point.time for point in history(world) if point.numbers is None]
    assert [(at - START) // MINUTE for at in gaps] == [*range(7, 15)]
    diary.check()


def test_time_without_polls_is_a_gap_though_the_numbers_are_the_same_after_it(world: PoolWorld) -> None:
    diary = Diary(world)
    for _ in range(4):
        diary.poll()
    world.wait(240)
    diary.change(0, "running")
    world.wait(240)
    diary.change(0, "idle")
    for _ in range(4):
        diary.poll()
    gaps = [point.time for point in history(world) if point.numbers is None]
    assert [(at - START) // MINUTE for at in gaps] == [*range(7, 13)]


def test_a_pool_in_which_nothing_moved_while_nobody_looked_has_no_gap(world: PoolWorld) -> None:
    diary = Diary(world)
    for _ in range(4):
        diary.poll()
    world.wait(3600)
    diary.poll()
    assert [point.time for point in history(world)[1:] if point.numbers is None] == []


def test_a_deleted_pool_has_its_history_until_retention_ends(world: PoolWorld) -> None:
    diary = Diary(world)
    for number in range(5):
        diary.change(number, STATES[number % 4])
        diary.poll()
    before = history(world)
    diary.pool.deleted = world.now()
    world.wait(60)
    world.poll()
    assert not world.known().resources
    assert [point for point in history(world) if point.numbers][:5] == [point for point in before if point.numbers][:5]
    world.wait(8 * 86_400)
    housekeeping(world)
    kept = [row for partition, row in world.storage.rows["poolhistory"] if partition == ACCOUNT.key]
    assert kept
    assert {row.rpartition("~")[2][0] for row in kept} == {"d"}
    with pytest.raises(HistoryRangeError, match="kept for 7 days"):
        history(world)
    assert any(point.numbers for point in history(world, minutes=15))
    plain = world.run(world.started().histories.read("demo", "Alpha"))
    assert {point.numbers for point in plain.points} == {None}
    world.wait(84 * 86_400)
    housekeeping(world)
    assert not world.storage.rows["poolhistory"]
    with pytest.raises(NotFoundError):
        world.run(world.started().histories.read("demo", "Alpha"))


def test_history_that_is_not_over_stays(world: PoolWorld) -> None:
    diary = Diary(world)
    for number in range(30):
        diary.change(number, STATES[number % 2])
        diary.poll()
    before = dict(world.storage.rows["poolhistory"])
    now = to_milliseconds(world.now())
    assert {row.rpartition("~")[2] for _, row in before} >= {
        MINUTES.row(MINUTES.slot(now - 20 * 60_000)),
        QUARTERS.row(QUARTERS.slot(now - 20 * 60_000)),
    }
    housekeeping(world)
    assert world.storage.rows["poolhistory"] == before


def test_a_pool_that_was_created_anew_goes_on_in_the_same_history_and_counts_anew(world: PoolWorld) -> None:
    diary = Diary(world)
    diary.poll()
    diary.change(0, "preempted")
    for _ in range(3):
        diary.poll()
    old, diary.pool.deleted = diary.pool, world.now()
    world.wait(5)
    diary.pool = world.create("Alpha", 2)
    diary.polled.clear()
    for number in range(14):
        diary.change(0, STATES[number % 2])
        diary.poll()
    points = history(world)
    shown = {point.as_of: point.numbers.counts for point in points if point.numbers and point.as_of}
    for as_of, counts in shown.items():
        true = (old if old.is_there(as_of) else diary.pool).at(as_of)
        assert counts == summary_of(true.values(), SLOTS).counts
    assert sum(point.increase or 0 for point in points) == 1
    (known,) = world.known().resources.values()
    assert known.snapshot
    assert known.snapshot.tally
    assert known.snapshot.tally.interruptions.total == 0


def test_an_unknown_pool_has_no_history(world: PoolWorld) -> None:
    for name in ("nope", "n" * 2000):
        with pytest.raises(NotFoundError):
            world.run(world.started().histories.read("demo", name))
