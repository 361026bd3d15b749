"""Node seconds count once each, wherever a process dies or another one polls beside it; they outlive the pool."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.services.pools.pool_usage import PoolUsage
from shared.stores.pools.nodes import StoredNodes
from tests.services.fakes.fake_pools import TruePool
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.pool_housekeeping import housekeeping
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT

DAY = 24 * 3_600
STATES = ("idle", "running", "preempted", "creating", "offline", "unusable", "removed", "added")

faults = st.none() | st.builds(Fault, call=st.integers(1, 9), committed=st.booleans(), kills=st.booleans())
changes = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(STATES), st.integers(0, 90)), max_size=3)
steps = st.lists(
    st.tuples(changes, st.sampled_from([1, 20, 60, 150, 900]), faults, st.sampled_from([0, 1, None])), max_size=8
)


def stored(world: PoolWorld, pool: str = "alpha") -> StoredNodes:
    return world.run(world.started().nodes.load(ACCOUNT.key, key_of(pool)))


def watched_pool(world: PoolWorld) -> TruePool:
    """Creates a pool of two idle nodes, which polls see at once and after ten minutes."""
    pool = world.create("Alpha", 2)
    world.poll()
    world.wait(600)
    world.poll()
    return pool


def usage(world: PoolWorld, pool: str = "alpha") -> dict[str, float]:
    """Returns the seconds of a pool's nodes by class, until they were last listed."""
    found = stored(world, pool)
    known = world.known().resources.get(key_of(pool))
    as_of = known.nodes_as_of if known else None
    assert found.usage
    seconds: Counter[str] = Counter()
    for amounts in found.usage.total(found.nodes, to_milliseconds(as_of) if as_of else 0).values():
        for kind, amount in amounts.items():
            seconds[kind.billing_class] += amount
    return {name: amount / 1_000 for name, amount in seconds.items()}


def by_node(world: PoolWorld) -> dict[str, int]:
    """Returns the milliseconds of each node, whose name is its VM size."""
    found, pool = stored(world), world.known().resources["alpha"]
    assert found.usage
    assert pool.nodes_as_of
    totals: Counter[str] = Counter()
    for amounts in found.usage.total(found.nodes, to_milliseconds(pool.nodes_as_of)).values():
        for kind, amount in amounts.items():
            totals[kind.vm_size] += amount
    return dict(totals)


def named(world: PoolWorld, pool: TruePool) -> None:
    """Gives each node a VM size of its own."""
    nodes = {name: node._replace(vm_size=name) for name, node in pool.at(world.now()).items()}
    pool.now(world.now(), nodes)


def move(world: PoolWorld, pool: TruePool, name: str, state: str, late: int) -> None:
    nodes = pool.at(world.now())
    if state == "added" or name not in nodes:
        world.add_node(pool)
        added = f"tvm-{world.made:03}"
        nodes = pool.at(world.now())
        pool.now(world.now(), {**nodes, added: nodes[added]._replace(vm_size=added)})
    elif state == "removed":
        world.remove_node(pool, name)
    else:
        world.change_node(pool, name, state, late=late)


def ages_of(pool: TruePool, at: int) -> dict[str, int]:
    """Returns the milliseconds since the allocation of all nodes that ever were."""
    return {name: at - node.allocated for nodes in pool.states for name, node in nodes.items()}


@given(steps)
def test_each_node_has_its_time_exactly_once_through_deaths_lost_answers_and_races(script: list[Any]) -> None:
    world = PoolWorld()
    try:
        world.create("Beta")
        world.poll()
        pool = world.create("Alpha", 3)
        named(world, pool)
        for moves, seconds, fault, who in script:
            world.wait(seconds)
            names = sorted(pool.at(world.now()))
            for number, state, late in moves:
                move(world, pool, names[number % len(names)] if names else "", state, late)
            if who is None:
                world.poll_both((0.5, 2.0), fault)
            else:
                world.poll(who, fault=fault)
        finals = []
        for _ in range(2):
            world.wait(60)
            world.poll(1)
            finals.append(by_node(world))
        as_of = world.known().resources["alpha"].nodes_as_of
        assert as_of
        present, ages = pool.at(world.now()), ages_of(pool, to_milliseconds(as_of))
        assert {name: age for name, age in finals[1].items() if name in present} == {
            name: ages[name] for name in present
        }
        gone = [{name: time for name, time in found.items() if name not in present} for found in finals]
        assert gone[0] == gone[1]
        assert all(time <= ages[name] for name, time in gone[1].items())
    finally:
        world.close()


def test_polls_of_unchanged_nodes_write_nothing_and_add_nothing(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.poll()
    pools.wait(60)
    pools.poll()
    first, written = stored(pools), pools.storage.writes.count("nodes")
    for _ in range(5):
        pools.wait(60)
        pools.poll()
        pools.poll(1)
    assert pools.storage.writes.count("nodes") == written
    assert stored(pools).usage == first.usage
    pools.change_node(pool, min(pool.at(pools.now())), "running", slots=1)
    pools.wait(60)
    pools.poll()
    busy = stored(pools).usage
    pools.change_node(pool, min(pool.at(pools.now())), "running", slots=2)
    pools.poll()
    assert stored(pools).usage == busy
    assert pools.storage.writes.count("nodes") == written + 2


def test_a_pool_that_the_first_list_shows_counts_from_then_on_and_later_ones_from_their_creation(
    pools: PoolWorld,
) -> None:
    pools.create("Alpha", 2)
    pools.wait(7_200)
    pools.poll()
    pools.create("Beta", 1)
    pools.wait(90)
    pools.poll()
    assert usage(pools) == {"idle": 180}
    assert usage(pools, "beta") == {"idle": 90}


@pytest.mark.parametrize("seconds", [60, 1_200])
def test_the_usage_of_a_deleted_pool_stays_for_four_days_after_its_day(pools: PoolWorld, seconds: int) -> None:
    pool = watched_pool(pools)
    pools.wait(seconds)
    pool.deleted = pools.now()
    pools.poll()
    pools.poll(1)
    known = usage(pools)
    assert known == ({"idle": 1_200, "ready": 60} if seconds == 60 else {"idle": 1_200, "unwatched": 2_400})
    assert stored(pools).nodes == {}
    pools.wait(4 * DAY)
    housekeeping(pools)
    assert usage(pools) == known
    pools.wait(DAY)
    housekeeping(pools)
    assert stored(pools).usage is None
    assert not pools.storage.rows["nodes"]


def test_nodes_of_a_pool_that_is_being_deleted_were_there_until_that_began(pools: PoolWorld) -> None:
    pool = watched_pool(pools)
    pools.wait(50)
    pool.deleting_since = pools.now()
    pools.wait(6)
    for name in sorted(pool.at(pools.now())):
        pools.remove_node(pool, name)
    pools.wait(4)
    pools.poll()
    pools.wait(60)
    pool.deleted = pools.now()
    pools.poll()
    assert usage(pools) == {"idle": 1_200, "ready": 100, "leaving": 10}


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("kills", [False, True])
@pytest.mark.parametrize("call", range(1, 9))
def test_a_process_may_die_while_it_deletes_a_pool(
    pools: PoolWorld, call: int, *, committed: bool, kills: bool
) -> None:
    pool = watched_pool(pools)
    pools.wait(60)
    pool.deleted = pools.now()
    pools.poll(fault=Fault(call, committed=committed, kills=kills))
    pools.wait(1)
    pools.poll(1)
    assert not pools.known().resources
    found = usage(pools)
    assert found.pop("idle") == 1_200
    assert found.keys() == {"ready"}
    assert 60 <= found["ready"] <= 62


def test_a_deleted_pool_whose_row_is_damaged_keeps_its_usage(pools: PoolWorld) -> None:
    pool = watched_pool(pools)
    pools.change_node(pool, min(pool.at(pools.now())), "offline")
    pools.wait(60)
    pools.poll()
    place = next(place for place in pools.storage.rows["pools"] if place[1] == "alpha")
    row, etag = pools.storage.rows["pools"][place]
    pools.storage.rows["pools"][place] = ({**row, "pool0": b"x"}, etag)
    pools.processes = [pools.started(), pools.started()]
    pools.wait(60)
    pool.deleted = pools.now()
    pools.poll()
    assert not pools.known().resources
    found = usage(pools)
    assert found == {"idle": 600 + 660, "offline": 60 + 30, "ready": 30}


@pytest.mark.parametrize(("seconds", "name"), [(60, "ready"), (1_200, "unwatched")])
def test_a_pool_that_is_deleted_after_the_list_of_pools_counts_until_that_list(
    pools: PoolWorld, seconds: int, name: str
) -> None:
    pool = watched_pool(pools)
    pools.wait(seconds)
    started = pools.now()

    def delete() -> None:
        pool.deleted = pools.now()

    pools.later(3, delete)
    pools.poll(takes=2)
    assert not pools.known().resources
    assert pool.deleted == started + timedelta(seconds=3)
    assert usage(pools) == {"idle": 1_200, name: 2 * (seconds + 1)}


def test_a_pool_re_created_under_its_id_goes_on_with_its_ledger(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 1)
    pools.poll()
    pools.wait(60)
    pools.poll()
    pools.wait(20)
    pool.deleted = pools.now()
    pools.wait(20)
    pools.create("Alpha", 3)
    pools.wait(20)
    pools.poll()
    assert usage(pools) == {"idle": 60 + 3 * 20, "ready": 20}
    pools.wait(60)
    pools.poll()
    assert usage(pools) == {"idle": 60 + 3 * 80, "ready": 20}
    pools.service.pools[-1].deleted = pools.now()
    pools.wait(60)
    pools.poll()
    pools.wait(3_600)
    pools.create("Alpha", 1)
    pools.wait(60)
    pools.poll()
    assert usage(pools) == {"idle": 60 + 3 * 80 + 60, "ready": 20 + 3 * 30}


def test_a_pool_re_created_under_its_id_keeps_its_nodes_when_an_event_dates_the_deletion(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 1)
    pools.poll()
    pools.wait(60)
    pools.poll()
    pools.wait(20)
    pool.deleted = pools.now()
    pools.wait(40)
    pools.poll()
    pools.create("Alpha", 3)
    pools.wait(20)
    pools.poll()
    nodes = stored(pools).nodes
    assert usage(pools) == {"idle": 60 + 3 * 20, "ready": 30}
    deletion = BatchEvent(pool.deleted, "PoolDeleteCompleteEvent", None, None, "Alpha", None, {}, bytes(IDENTITY_BYTES))
    pools.run(pools.started().events.save_once(ACCOUNT.key, [deletion]))
    housekeeping(pools)
    assert stored(pools).nodes == nodes
    assert usage(pools) == {"idle": 60 + 3 * 20, "ready": 10, "leaving": 10}
    pools.wait(60)
    pools.poll()
    assert usage(pools) == {"idle": 60 + 3 * 80, "ready": 10, "leaving": 10}


def test_rows_of_an_earlier_version_begin_a_ledger_with_the_next_poll(pools: PoolWorld) -> None:
    watched_pool(pools)
    rows = pools.storage.rows["nodes"]
    ((place, (row, etag)),) = rows.items()
    rows[place] = ({name: value for name, value in row.items() if not name.startswith("usage")}, etag)
    pools.processes = [pools.started(), pools.started()]
    assert stored(pools).usage is None
    assert len(stored(pools).nodes) == 2
    pools.wait(60)
    pools.poll()
    assert usage(pools) == {"idle": 120}
    pools.poll(1)
    assert usage(pools) == {"idle": 120}


def test_rows_of_two_writers_begin_a_ledger_anew_from_the_last_list_on(pools: PoolWorld) -> None:
    pool = watched_pool(pools)
    rows = pools.storage.rows["nodes"]
    ((place, (row, etag)),) = rows.items()
    rows[place] = ({**row, "digest": "other"}, etag)
    pools.processes = [pools.started(), pools.started()]
    pools.wait(600)
    pools.change_node(pool, min(pool.at(pools.now())), "offline")
    pools.wait(60)
    pools.poll()
    assert usage(pools) == {"idle": 660, "unwatched": 600, "offline": 60}


class NeverUnwatched(PoolUsage):
    """Takes any gap between two polls for watched."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._longest = timedelta(days=1) // timedelta(milliseconds=1)


def test_an_account_without_polls_for_long_is_noticed_by_these_tests(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.services.pools.pool_rounds.PoolUsage", NeverUnwatched)
    with pytest.raises(AssertionError):
        test_the_usage_of_a_deleted_pool_stays_for_four_days_after_its_day(pools, 1_200)
