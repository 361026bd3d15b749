"""Rounds over pools: what they claim is true whatever happens meanwhile, and bugs that make it untrue are noticed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, override

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.nodes import NodeCounts, merged, summary_of
from shared.domain.pools import Pool, PoolFacts
from shared.domain.reports import UnreadableRow
from shared.domain.stamps import to_milliseconds
from shared.errors import BatchAnswerError, BatchError, BatchThrottledError, BatchUnreachableError
from shared.services.node_reading import NodeReading, NodesRead
from shared.services.pool_queries import PoolQueries
from shared.stores.monitoring import MonitoringStore
from shared.stores.nodes import NodeStore, StoredNodes
from shared.stores.pools import PoolStore
from tests.services.fake_pools import NONSENSE, FakePools, TruePool
from tests.services.memory_tables import Connection, Fault, MemoryTables
from tests.services.pool_world import PoolWorld, as_told
from tests.services.process import ACCOUNT, LoopClock

STATES = ("idle", "running", "preempted", "creating")


@pytest.fixture
def pools() -> Iterator[PoolWorld]:
    world = PoolWorld()
    yield world
    world.close()


def asked(world: PoolWorld, who: int = 0) -> list[str]:
    """What the next round of a process asks of Batch."""
    world.wait(60)
    world.processes[who].batch.requests.clear()
    world.poll(who)
    return world.processes[who].batch.requests


changes = st.tuples(
    st.sampled_from(["state", "slots", "bar", "add", "remove", "swap"]),
    st.integers(0, 2),
    st.integers(0, 9),
    st.integers(0, 3),
)
moments = st.sampled_from([0.8, 1.3, 2.2, 2.8, 3.2, 4.1])  # in calls: pools at 0.5, counts at 1.5, pages from 2.5 on
meanwhile = st.lists(st.tuples(moments, changes), max_size=2).map(tuple)
faults = st.none() | st.builds(Fault, call=st.integers(1, 9), committed=st.booleans(), kills=st.booleans())
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), changes),
        st.tuples(st.just("poll"), st.integers(0, 1), st.sampled_from([0.0, 3.0]), meanwhile, faults),
        st.tuples(st.just("both"), st.sampled_from([0.5, 4.0]), st.sampled_from([0.5, 4.0]), meanwhile, faults),
        st.tuples(st.just("wait"), st.sampled_from([5.0, 60.0, 1000.0])),
        st.tuples(st.just("recreate"), st.integers(0, 2)),
        st.tuples(st.just("page"), st.sampled_from([1, 2, 1000])),
    ),
    max_size=14,
)


def change(world: PoolWorld, how: tuple[str, int, int, int]) -> None:
    kind, which, node, state = how
    pool = world.service.pools[-1 - which % min(3, len(world.service.pools))]
    names = sorted(pool.at(world.now()))
    if kind == "add" or not names:
        world.add_node(pool, dedicated=bool(state))
        return
    name = names[node % len(names)]
    old = pool.at(world.now())[name]
    if kind in ("remove", "swap"):
        world.remove_node(pool, name)
    if kind == "swap":
        world.add_node(pool, dedicated=old.dedicated)
    elif kind == "state":
        resting = "idle" if old.scheduling == "enabled" else "offline"
        new = resting if STATES[state] == "idle" else STATES[state]
        world.change_node(pool, name, new, slots=state if new == "running" else 0)
    elif kind == "bar":
        world.bar_node(pool, name)
    elif kind == "slots" and old.state == "running":
        world.change_node(pool, name, "running", slots=state)


def play(world: PoolWorld, script: list[tuple[Any, ...]]) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        world.create(name, 3)
    for step in script:
        take(world, step)
        world.wait(1)
    for who in (0, 1):
        world.wait(60)
        world.poll(who)
        world.wait(60)
    assert world.poll(0)


def take(world: PoolWorld, step: tuple[Any, ...]) -> None:
    match step:
        case ("change", how):
            change(world, how)
        case ("poll", who, takes, changes_, fault):
            happen(world, changes_ if takes else (), takes)
            world.poll(who, takes=takes, fault=fault)
        case ("both", first, second, changes_, fault):
            happen(world, changes_, first)
            world.poll_both((first, second), fault)
        case ("wait", seconds):
            world.wait(seconds)
        case ("recreate", which):
            recreate(world, which)
        case ("page", size):
            world.service.page_size = size


def happen(world: PoolWorld, happenings: tuple[tuple[float, Any], ...], takes: float) -> None:
    """Changes while the next poll is under way, whose calls take so long; moments are in calls."""
    for moment, how in happenings:
        world.later(takes * moment, partial(change, world, how))


def recreate(world: PoolWorld, which: int) -> None:
    there = world.service.there(world.now())
    if there:
        old = there[which % len(there)]
        old.deleted = world.now()
        world.wait(2)
        world.create(old.id, 2)


@given(steps)
def test_what_is_claimed_of_pools_is_true_whatever_happens(script: list[tuple[Any, ...]]) -> None:
    world = PoolWorld()
    try:
        play(world, script)
        known = world.known()
        assert {pool.facts.id for pool in known.pools.values()} == {p.id for p in world.service.there(world.now())}
        for pool in world.service.there(world.now()):
            told = {name: as_told(node) for name, node in world.stored(pool.id).items()}
            assert told == pool.at(world.now())
    finally:
        world.close()


class ChangesOnly(NodeReading):
    """After the first list nothing but changes is read."""

    @override
    async def _read_all(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        if pool.picture is None or stored.is_torn:
            return await super()._read_all(pool, stored, counts, t0)
        return await _changes(self, pool, stored, t0)


class CountsUnheard(NodeReading):
    """The counts of the service aren't compared."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        if pool.picture and pool.picture.digest == stored.digest and pool.picture.summary.is_settled:
            return await _changes(self, pool, stored, t0)
        return await super().read(pool, stored, counts, t0)


class Doubtless(NodeReading):
    """Several pages are taken for one."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        picture, nodes = await super().read(pool, stored, counts, t0)
        return replace(picture, doubt=None), nodes


class CountsSuffice(NodeReading):
    """Counts that agree vouch for the slots on several pages, too."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        picture, nodes = await super().read(pool, stored, counts, t0)
        return replace(picture, doubt=None if picture.summary.counts == counts else picture.doubt), nodes


async def _changes(reading: NodeReading, pool: Pool, stored: StoredNodes, t0: Any) -> NodesRead:
    """Changes alone, taken for all there is."""
    assert pool.picture
    since = pool.picture.as_of - reading._overlap
    told = await reading._source.fetch_nodes(pool.facts.id, changed_since=since, recent_as_of=t0)
    known = to_milliseconds(pool.picture.as_of)
    nodes = merged(stored.nodes, told.nodes, whole=False, at=to_milliseconds(t0), known_as_of=known)
    summary = summary_of(nodes.values(), pool.facts.slots_per_node)
    return replace(pool.picture, as_of=t0, source="delta", summary=summary), nodes


def a_node_goes_and_another_takes_a_slot(world: PoolWorld) -> None:
    alpha, _, _ = (world.create(name, 3) for name in ("Alpha", "Beta", "Gamma"))
    world.poll()
    world.wait(60)
    world.poll()
    world.wait(60)
    world.remove_node(alpha, "tvm-001")
    world.change_node(alpha, "tvm-002", "running", slots=1)
    world.poll()
    world.wait(60)
    world.change_node(alpha, "tvm-002", "running", slots=2)
    world.poll()


def slots_change_between_two_pages(world: PoolWorld) -> None:
    """A node takes a slot behind its page, another gives one up before its own, and states stay as they are."""
    alpha = world.create("Alpha", 2)
    world.service.page_size = 1
    world.change_node(alpha, "tvm-001", "running", slots=1)
    world.change_node(alpha, "tvm-002", "running", slots=2)
    world.poll()
    world.wait(60)
    world.later(3 * 2.7, partial(world.change_node, alpha, "tvm-001", "running", slots=2))
    world.later(3 * 3.2, partial(world.change_node, alpha, "tvm-002", "running", slots=1))
    world.poll(takes=3)


STORIES = (a_node_goes_and_another_takes_a_slot, slots_change_between_two_pages)


def played(reading: type[NodeReading], story: Callable[[PoolWorld], None]) -> None:
    world = PoolWorld(reading)
    try:
        story(world)
    finally:
        world.close()


@pytest.mark.parametrize(
    ("bug", "story"),
    [
        (ChangesOnly, a_node_goes_and_another_takes_a_slot),
        (CountsUnheard, a_node_goes_and_another_takes_a_slot),
        (Doubtless, slots_change_between_two_pages),
        (CountsSuffice, slots_change_between_two_pages),
    ],
)
def test_readings_with_a_bug_are_noticed(bug: type[NodeReading], story: Callable[[PoolWorld], None]) -> None:
    with pytest.raises(AssertionError):
        played(bug, story)


@pytest.mark.parametrize("story", STORIES)
def test_nothing_false_is_claimed_where_readings_with_a_bug_do(story: Callable[[PoolWorld], None]) -> None:
    played(NodeReading, story)


def test_what_runs_on_nodes_of_several_pages_is_never_sure(pools: PoolWorld) -> None:
    slots_change_between_two_pages(pools)
    assert level_of_nodes(pools) == "unverified"
    pools.service.page_size = 2
    asked(pools)
    assert level_of_nodes(pools) == "exact"


def test_a_node_that_came_for_another_and_is_gone_itself_by_then_hides_nothing(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    asked(pools)
    asked(pools)
    pools.wait(50)
    pools.remove_node(pool, "tvm-001")
    pools.add_node(pool)
    pools.wait(1)
    pools.later(3 * 2, partial(pools.remove_node, pool, "tvm-003"))  # after the counts, before the nodes
    pools.poll(takes=3)
    assert sorted(pools.stored("Alpha")) == ["tvm-002"]


def test_where_tasks_begin_all_nodes_are_listed_at_once(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    asked(pools)
    assert asked(pools)[-1] == "pools/Alpha/changes"
    pools.change_node(pool, "tvm-001", "running", slots=1)
    assert asked(pools) == ["pools", "nodecounts", "pools/Alpha/nodes"]


def test_an_unchanged_account_costs_a_request_for_each_pool_with_nodes_two_more_and_one_row(pools: PoolWorld) -> None:
    for name in ("Alpha", "Beta"):
        pools.create(name, 3)
    pools.create("Empty")
    asked(pools)
    asked(pools)
    pools.storage.writes.clear()
    expected = ["nodecounts", "pools", "pools/Alpha/changes", "pools/Beta/changes"]
    for _ in range(3):
        assert sorted(asked(pools)) == expected
        assert pools.table_calls == 2  # the round's row, read and written
    assert pools.storage.writes == ["accounts"] * 3


def test_an_account_without_nodes_costs_one_request(pools: PoolWorld) -> None:
    pools.create("Empty")
    asked(pools)
    assert asked(pools) == ["pools"]


def test_all_nodes_are_listed_where_one_is_gone_though_the_counts_lag(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 3)
    pools.wait(60)
    pools.poll()
    pools.service.count_lag = timedelta(seconds=90)
    pools.wait(60)
    pools.remove_node(pool, "tvm-002")
    pools.wait(1)
    assert asked(pools)[-1] == "pools/Alpha/nodes"
    assert sorted(pools.stored("Alpha")) == ["tvm-001", "tvm-003"]


def test_processes_that_take_turns_do_not_get_in_each_others_way(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 3)
    for turn in range(6):
        pools.wait(60)
        pools.change_node(pool, "tvm-002", "running", slots=turn % 3)
        pools.poll(turn % 2)
        ended = pools.processes[turn % 2].rounds.ended
        assert ended
        assert (ended.overtaken, ended.reached) == (set(), {"alpha"})


@pytest.mark.parametrize("committed", [False, True], ids=["before it is written", "after it was written"])
@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("who", [0, 1], ids=["the same process", "another process"])
@pytest.mark.parametrize("call", range(1, 7))
def test_what_a_broken_round_leaves_behind_hinders_a_process_once_at_most(
    pools: PoolWorld, call: int, *, who: int, committed: bool, kills: bool
) -> None:
    pool = pools.create("Alpha", 3)
    pools.wait(60)
    pools.poll(1)
    pools.wait(60)
    pools.poll(0)
    pools.wait(60)
    pools.change_node(pool, "tvm-002", "running", slots=1)
    pools.poll(who, fault=Fault(call, committed=committed, kills=kills))
    overtaken = []
    for slots in (1, 2, 2):
        before = pools.known().pools["alpha"].as_of
        pools.wait(60)
        pools.change_node(pool, "tvm-002", "running", slots=slots)
        pools.poll(0)
        assert pools.known().pools["alpha"].as_of >= before
        ended = pools.processes[0].rounds.ended
        assert ended
        overtaken.append(ended.overtaken)
    assert overtaken[1:] == [set(), set()]
    assert pools.known().pools["alpha"].as_of == pools.now().replace(microsecond=0)
    assert pools.stored("Alpha")["tvm-002"].slots == 2


def queries(world: PoolWorld) -> PoolQueries:
    """Those of a process that remembers nothing."""
    tables = MemoryTables(Connection(world.storage))
    accounts, clock = {ACCOUNT.id: ACCOUNT}, LoopClock(world.now)
    return PoolQueries(
        accounts,
        PoolStore(tables),
        NodeStore(tables),
        MonitoringStore(tables),
        clock=clock,
        interval=timedelta(hours=1),
    )


def level_of_nodes(world: PoolWorld) -> str:
    """How sure a process that remembers nothing says nodes are."""
    report, _ = world.run(queries(world).pool_with_nodes(ACCOUNT.id, "Alpha"))
    return report.verdict.level


def test_what_another_process_left_behind_that_died_amid_its_writes_goes_with_the_next_full_list(
    pools: PoolWorld,
) -> None:
    pool = pools.create("Alpha", 1)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    asked(pools)
    asked(pools)
    pools.wait(1)
    pool.now(pools.now(), {"tvm-001": pool.at(pools.now())["tvm-001"]._replace(scheduling="disabled")})
    pools.wait(60)
    pools.poll(1, fault=Fault(5, committed=False, kills=True))
    assert pools.stored("Alpha")["tvm-001"].scheduling == "disabled"
    assert level_of_nodes(pools) == "unverified"
    pool.now(pools.now(), {"tvm-001": pool.at(pools.now())["tvm-001"]._replace(scheduling="enabled")})
    for _ in range(15):
        pools.wait(60)
        pools.run(pools.processes[0].rounds.run(lambda: True))
    assert pools.stored("Alpha")["tvm-001"].scheduling == "enabled"
    assert level_of_nodes(pools) == "exact"
    asked(pools)


def test_changes_on_several_pages_are_not_of_one_instant(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 3)
    asked(pools)
    asked(pools)
    pools.service.page_size = 2
    for name in sorted(pool.at(pools.now())):
        pools.change_node(pool, name, "offline")
    assert asked(pools)[-4:] == ["pools/Alpha/changes"] * 2 + ["pools/Alpha/nodes"] * 2


def test_a_change_within_the_overlap_is_seen_though_the_counts_are_the_same(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 3)
    asked(pools)
    pools.wait(30)
    pools.change_node(pool, "tvm-001", "offline")
    asked(pools)
    pools.change_node(pool, "tvm-001", "idle", late=29)
    pools.change_node(pool, "tvm-002", "offline", late=29)
    assert asked(pools)[-1] == "pools/Alpha/changes"
    assert [node.state for _, node in sorted(pools.stored("Alpha").items())] == ["idle", "offline", "idle"]


def test_a_node_that_is_barred_from_tasks_before_it_is_idle_is_seen_though_its_state_stays(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.change_node(pool, "tvm-001", "creating")
    asked(pools)
    pools.bar_node(pool, "tvm-001")
    assert asked(pools)[-1] == "pools/Alpha/nodes"
    assert [node.scheduling for _, node in sorted(pools.stored("Alpha").items())] == ["disabled", "enabled"]


@pytest.mark.parametrize("request_", ["pools", "pools/Alpha/nodes"])
def test_a_failure_is_told_of_the_pools_that_it_concerns(pools: PoolWorld, request_: str) -> None:
    for name in ("Alpha", "Beta"):
        pool = pools.create(name, 2)
        pools.change_node(pool, min(pool.at(pools.now())), "running", slots=1)
    asked(pools)
    pools.service.refusals[request_] = BatchAnswerError("It broke.")
    asked(pools)
    known = pools.known()
    assert known.last
    told = {key: known.last.failure_of(pool) for key, pool in known.pools.items()}
    assert told == {"alpha": "It broke.", "beta": None if "Alpha" in request_ else "It broke."}
    pools.service.refusals.clear()
    asked(pools)
    after = pools.known()
    assert after.last
    assert [after.last.failure_of(pool) for pool in after.pools.values()] == [None, None]


@pytest.mark.parametrize("error", [BatchAnswerError("It broke."), BatchUnreachableError("http://x", "a timeout")])
def test_pools_are_read_without_the_counts_where_these_fail(pools: PoolWorld, error: BatchError) -> None:
    for name in ("Alpha", "Beta"):
        pools.create(name, 2)
    asked(pools)
    pools.service.refusals["nodecounts"] = error
    assert sorted(asked(pools)) == ["nodecounts", "pools", "pools/Alpha/nodes", "pools/Beta/nodes"]
    known = pools.known()
    assert known.last
    assert known.last.problem == str(error)
    assert [known.last.failure_of(pool) for pool in known.pools.values()] == [None, None]
    assert level_of_nodes(pools) == "exact"
    pools.service.page_size = 1
    asked(pools)
    assert level_of_nodes(pools) == "unverified"


def test_a_pool_of_which_the_list_tells_nonsense_is_stale_alone_and_asked_for_no_further(pools: PoolWorld) -> None:
    for name in ("Alpha", "Beta"):
        pools.create(name, 1)
    asked(pools)
    asked(pools)
    pools.create("New", 1)
    pools.service.nonsense = {"alpha", "new"}
    for _ in range(2):
        assert asked(pools) == ["pools", "nodecounts", "pools/Beta/changes"]
        known = pools.known()
        assert known.last
        assert known.last.failures == {"alpha": NONSENSE, "new": NONSENSE}
        assert {key: known.last.failure_of(pool) for key, pool in known.pools.items()} == {
            "alpha": NONSENSE,
            "beta": None,
        }
    listed = pools.run(queries(pools).listed_pools(ACCOUNT.id))
    assert [report.pool.facts.id for report in listed.reports] == ["Alpha", "Beta"]
    assert listed.unreadable == (UnreadableRow("new", NONSENSE),)
    pools.service.nonsense = set()
    asked(pools)
    after = pools.known()
    assert after.last
    assert (after.last.failures, sorted(after.pools)) == ({}, ["alpha", "beta", "new"])


def test_a_pool_missing_from_the_list_is_kept_unless_it_is_not_found(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.create("Beta", 1)
    asked(pools)
    pools.service.refusals["pools/Alpha"] = BatchAnswerError("It broke.")
    pools.service.pools.remove(pool)
    asked(pools)
    known = pools.known()
    assert known.last
    assert known.last.failure_of(known.pools["alpha"]) == "It broke."
    pools.service.refusals.clear()
    asked(pools)
    assert list(pools.known().pools) == ["beta"]


def test_throttling_ends_the_round_and_is_handed_on(pools: PoolWorld) -> None:
    for number in range(30):
        pool = pools.create(f"pool-{number:02}", 1)
        pools.change_node(pool, f"tvm-{number + 1:03}", "running", slots=1)
    asked(pools)
    throttled = BatchThrottledError("http://x", timedelta(seconds=7), status=429)
    pools.service.refusals["pools/pool-00/nodes"] = throttled
    pools.wait(60)
    process = pools.processes[0]
    process.batch.requests.clear()
    assert pools.run(process.rounds.run(lambda: True)).throttled is throttled
    assert len(process.batch.requests) <= 2 + 8


def test_missing_pools_are_looked_up_only_while_the_round_may_go_on(pools: PoolWorld) -> None:
    for number in range(9):
        pools.create(f"pool-{number}", 1)
    asked(pools)
    del pools.service.pools[2:]
    process = pools.processes[0]
    throttled = BatchThrottledError("http://x", timedelta(seconds=7), status=429)
    pools.service.refusals["pools/pool-3"] = throttled
    process.batch.requests.clear()
    assert pools.run(process.rounds.run(lambda: True)).throttled is throttled
    assert process.batch.requests == ["pools", "pools/pool-2", "pools/pool-3"]
    pools.service.refusals.clear()
    process.batch.requests.clear()
    pools.run(process.rounds.run(lambda: "pools/pool-4" not in process.batch.requests))
    assert process.batch.requests == ["pools", "pools/pool-3", "pools/pool-4", "nodecounts"]


def test_a_missing_pool_that_nobody_looked_up_is_not_said_to_be_as_of_the_list(pools: PoolWorld) -> None:
    for number in range(55):
        pools.create(f"pool-{number:02}")
    asked(pools)
    before = pools.now()
    for pool in pools.service.pools[2:]:
        pool.deleted = before
    asked(pools)
    left = [pool.picture for key, pool in pools.known().pools.items() if key > "pool-01"]
    assert len(left) == 3
    assert all(picture and picture.as_of <= before for picture in left)
    asked(pools)
    assert sorted(pools.known().pools) == ["pool-00", "pool-01"]


def test_a_round_whose_time_is_up_reads_no_nodes_and_keeps_what_it_was_told(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    asked(pools)
    pools.add_node(pool)
    pools.wait(60)
    process = pools.processes[0]
    process.batch.requests.clear()
    assert pools.run(process.rounds.run(lambda: False)) == (None, None)
    assert process.batch.requests == ["pools", "nodecounts"]
    (known,) = pools.known().pools.values()
    assert known.picture
    assert (known.facts.nodes, known.picture.summary.total) == (3, 2)


def test_a_pool_that_another_process_polled_meanwhile_is_left_to_it(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.poll(0)
    pools.poll(1)
    pools.wait(60)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    pools.poll_both((1.0, 1.1))
    pools.wait(60)
    pools.poll(0)
    pools.wait(60)
    assert pools.poll(1)
    assert pools.stored("Alpha")["tvm-001"].slots == 1


def test_nodes_whose_rows_are_broken_are_read_anew_with_all_that_is_known_of_them(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    asked(pools)
    row, etag = pools.storage.rows["nodes"][ACCOUNT.key, "alpha~!"]
    pools.storage.rows["nodes"][ACCOUNT.key, "alpha~!"] = (row | {"nodes0": b"nonsense"}, etag)
    pools.processes[0] = pools.started()
    assert asked(pools)[-1] == "pools/Alpha/nodes"
    stored = pools.stored("Alpha")
    assert stored.keys() == pool.at(pools.now()).keys()
    assert {node.recent_at for node in stored.values()} == {to_milliseconds(pools.now())}


@pytest.mark.parametrize(("ran", "minutes"), [(3, [3]), (0, [])])
def test_recent_tasks_are_asked_for_sooner_once_where_none_is_known_of_a_node_that_ran_some(
    pools: PoolWorld, ran: int, minutes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pools.create("Alpha", 2)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    pools.poll()
    nodes = pool.at(pools.now())
    pool.now(pools.now(), {**nodes, "tvm-001": nodes["tvm-001"]._replace(tasks_run=ran)})
    batch, begun, asked_at = pools.processes[0].batch, pools.now(), list[int]()
    fetch_nodes = batch.fetch_nodes

    async def fetch(pool_id: str, *, recent_as_of: datetime | None = None, **told: Any) -> Any:
        if recent_as_of:
            asked_at.append(round((recent_as_of - begun).total_seconds() / 60))
        return await fetch_nodes(pool_id, recent_as_of=recent_as_of, **told)

    monkeypatch.setattr(batch, "fetch_nodes", fetch)
    for _ in range(7):
        pools.wait(60)
        pools.poll()
    assert asked_at == minutes


def test_a_deleted_pool_leaves_nothing_behind(pools: PoolWorld) -> None:
    pool: TruePool = pools.create("Alpha", 2)
    pools.create("Beta", 1)
    asked(pools)
    pool.deleted = pools.now()
    assert "pools/Alpha" in asked(pools)
    assert list(pools.known().pools) == ["beta"]
    assert not [place for place in pools.storage.rows["nodes"] if place[1].startswith("alpha~")]
    last = pools.known().last
    assert last
    assert "alpha" not in last.confirmations


class Overtaken(FakePools):
    """After a GET of a pool that is gone another is made under its id, which another process polls at once."""

    world: PoolWorld

    @override
    async def fetch_pool(self, pool_id: str) -> PoolFacts:
        try:
            return await super().fetch_pool(pool_id)
        finally:
            self.world.create(pool_id, 3)
            await self.world.processes[0].rounds.run(lambda: True)


def test_nodes_of_a_pool_that_was_made_anew_meanwhile_stay_when_the_old_one_is_forgotten(pools: PoolWorld) -> None:
    old = pools.create("Alpha", 2)
    asked(pools)
    old.deleted = pools.now()
    pools.wait(60)
    process = pools.processes[1]
    source = process.rounds.source = Overtaken(pools.service, process.connection)
    source.world = pools
    pools.run(process.rounds.run(lambda: True))
    assert source.requests[:2] == ["pools", "pools/Alpha"]
    assert len(pools.stored("Alpha")) == pools.known().pools["alpha"].facts.nodes == 3
