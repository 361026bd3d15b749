"""Rounds over pools: their claims are true despite concurrent changes, and bugs that make them false are caught."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, override

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node, NodeCounts, merged, summary_of
from shared.domain.pools.pools import Pool
from shared.services.pools import pool_rounds
from shared.services.pools.node_reader import NodeReader, NodesRead
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.pools.pools_round_state import PoolsRoundState
from shared.stores.pools.nodes import StoredNodes
from tests.services.fakes.fake_pools import TruePool
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.pool_telling import asked, level_of_nodes
from tests.services.worlds.pool_world import PoolWorld, as_listed

STATES = ("idle", "running", "preempted", "creating")

changes = st.tuples(
    st.sampled_from(["state", "slots", "bar", "add", "remove", "swap", "anew"]),
    st.integers(0, 2),
    st.integers(0, 9),
    st.integers(0, 3),
)
# in calls: pools at 0.5, counts at 1.5, pages from 2.5 on; with a page of counts for each pool from 4.5 on
moments = st.sampled_from([0.8, 1.3, 2.2, 2.8, 3.2, 4.1, 5.1])
meanwhile = st.lists(st.tuples(moments, changes), max_size=2).map(tuple)
faults = st.none() | st.builds(Fault, call=st.integers(1, 9), committed=st.booleans(), kills=st.booleans())
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), changes),
        st.tuples(st.just("poll"), st.integers(0, 1), st.sampled_from([0.0, 3.0]), meanwhile, faults),
        st.tuples(st.just("both"), st.sampled_from([0.5, 4.0]), st.sampled_from([0.5, 4.0]), meanwhile, faults),
        st.tuples(st.just("wait"), st.sampled_from([5.0, 60.0, 1000.0])),
        st.tuples(st.just("recreate"), st.integers(0, 2)),
        st.tuples(st.just("lag"), st.sampled_from([0.0, 5.0, 90.0, 300.0])),
        st.tuples(st.just("page"), st.sampled_from([1, 2, 1000]), st.sampled_from([1, 10])),
    ),
    max_size=14,
)


def change(world: PoolWorld, how: tuple[str, int, int, int]) -> None:
    kind, which, node, state = how
    pool = world.service.pools[-1 - which % min(3, len(world.service.pools))]
    names = sorted(pool.at(world.now()))
    if kind == "anew":
        make_anew(world, pool, state)
        return
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


def make_anew(world: PoolWorld, pool: TruePool, nodes: int) -> None:
    """Deletes and immediately re-creates the pool, if it exists."""
    if pool.is_there(world.now()) and pool.created < world.now():
        pool.deleted = world.now()
        world.create(pool.id, nodes)


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
        case ("lag", seconds):
            world.service.count_lag = timedelta(seconds=seconds)
        case ("recreate", which):
            recreate(world, which)
        case ("page", size, counts):
            world.service.page_size, world.service.counts_page = size, counts


def happen(world: PoolWorld, happenings: tuple[tuple[float, Any], ...], takes: float) -> None:
    """Schedules changes during the next poll, in which each call takes `takes` seconds; moments are in calls."""
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
def test_claims_about_pools_are_always_true(script: list[tuple[Any, ...]]) -> None:
    world = PoolWorld()
    try:
        play(world, script)
        known = world.known()
        assert {pool.facts.id for pool in known.resources.values()} == {p.id for p in world.service.there(world.now())}
        for pool in world.service.there(world.now()):
            nodes = {name: as_listed(node) for name, node in world.stored(pool.id).items()}
            assert nodes == pool.at(world.now())
    finally:
        world.close()


class ChangesOnly(NodeReader):
    """Reads only changes after the first list."""

    @override
    async def _read_all(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        if pool.snapshot is None or stored.is_torn:
            return await super()._read_all(pool, stored, counts, t0)
        return await _changes(self, pool, stored, t0)


class CountsUnheard(NodeReader):
    """Ignores the service's counts."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        if pool.snapshot and pool.snapshot.digest == stored.digest and pool.snapshot.summary.is_settled:
            return await _changes(self, pool, stored, t0)
        return await super().read(pool, stored, counts, t0)


class Doubtless(NodeReader):
    """Treats several pages as one."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        snapshot, nodes = await super().read(pool, stored, counts, t0)
        return replace(snapshot, doubt=None), nodes


class CountsSuffice(NodeReader):
    """Trusts slots on several pages if the counts agree."""

    @override
    async def read(self, pool: Pool, stored: StoredNodes, counts: NodeCounts | None, t0: Any) -> NodesRead:
        snapshot, nodes = await super().read(pool, stored, counts, t0)
        return replace(snapshot, doubt=None if snapshot.summary.counts == counts else snapshot.doubt), nodes


async def looked_up_at_once(self: PoolRounds, this: PoolsRoundState, _key: str, name: str) -> None:
    """Dates the result of a GET as of the list of pools."""
    self._show(this, await self.source.fetch_pool(name))


def only_of_nodes(_pool: Pool, stored: StoredNodes, nodes: Mapping[str, Node], known_until: Any) -> bool:
    """Skips the incarnation check if no node is known."""
    if not nodes:
        return bool(stored.nodes)
    return any(node.allocated >= to_milliseconds(known_until) for node in nodes.values())


async def _changes(reading: NodeReader, pool: Pool, stored: StoredNodes, t0: Any) -> NodesRead:
    """Reads changes alone and treats them as complete."""
    assert pool.snapshot
    since = pool.snapshot.as_of - reading._rules.overlap
    answer = await reading._source.fetch_nodes(pool.facts.id, changed_since=since, recent_as_of=t0)
    known = to_milliseconds(pool.snapshot.as_of)
    nodes = merged(stored.nodes, answer.nodes, whole=False, at=to_milliseconds(t0), known_as_of=known)
    summary = summary_of(nodes.values(), pool.facts.slots_per_node)
    return replace(pool.snapshot, as_of=t0, source="delta", summary=summary), nodes


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
    """A node takes a slot behind its page, another releases one ahead of its own, and states don't change."""
    alpha = world.create("Alpha", 2)
    world.service.page_size = 1
    world.change_node(alpha, "tvm-001", "running", slots=1)
    world.change_node(alpha, "tvm-002", "running", slots=2)
    world.poll()
    world.wait(60)
    world.later(3 * 2.7, partial(world.change_node, alpha, "tvm-001", "running", slots=2))
    world.later(3 * 3.2, partial(world.change_node, alpha, "tvm-002", "running", slots=1))
    world.poll(takes=3)


def a_pool_is_made_anew_behind_the_list(world: PoolWorld) -> None:
    """The pool is re-created between its list and that of its nodes: first with nodes, then without."""
    for nodes in (2, 0):
        alpha = world.create(f"Alpha-{nodes}", 2)
        world.wait(60)
        world.poll()
        world.wait(60)
        world.later(3 * 1.3, partial(make_anew, world, alpha, nodes))
        world.poll(takes=3)
        world.poll()


def a_new_pool_is_made_anew_behind_the_list(world: PoolWorld) -> None:
    """The pool had nodes when it was first listed, and has none when they are listed."""
    alpha = world.create("Alpha", 2)
    world.wait(60)
    world.later(3 * 1.3, partial(make_anew, world, alpha, 0))
    world.poll(takes=3)
    world.poll()


def a_pool_is_made_anew_around_the_list(world: PoolWorld) -> None:
    """The pool is missing when pools are listed, and exists again when it is looked up."""
    alpha = world.create("Alpha", 2)
    world.wait(60)
    world.poll()
    world.wait(60)
    alpha.deleted = world.now()
    world.later(3 * 0.8, partial(world.create, "Alpha", 2))
    world.poll(takes=3)
    world.wait(60)
    world.poll()


STORIES = (
    a_node_goes_and_another_takes_a_slot,
    slots_change_between_two_pages,
    a_pool_is_made_anew_behind_the_list,
    a_new_pool_is_made_anew_behind_the_list,
    a_pool_is_made_anew_around_the_list,
)


def played(reading: type[NodeReader], story: Callable[[PoolWorld], None]) -> None:
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
def test_readings_with_a_bug_are_noticed(bug: type[NodeReader], story: Callable[[PoolWorld], None]) -> None:
    with pytest.raises(AssertionError):
        played(bug, story)


@pytest.mark.parametrize(
    ("place", "name", "bug", "story"),
    [
        (pool_rounds, "may_be_anothers", lambda *_: False, a_pool_is_made_anew_behind_the_list),
        (pool_rounds, "may_be_anothers", only_of_nodes, a_new_pool_is_made_anew_behind_the_list),
        (PoolRounds, "_look_up", looked_up_at_once, a_pool_is_made_anew_around_the_list),
    ],
    ids=[
        "nobody asks whose nodes they are",
        "nobody asks whose none are",
        "a pool that is younger than the list is as of that",
    ],
)
def test_rounds_with_a_bug_are_noticed(
    monkeypatch: pytest.MonkeyPatch, place: object, name: str, bug: object, story: Callable[[PoolWorld], None]
) -> None:
    monkeypatch.setattr(place, name, bug)
    with pytest.raises(AssertionError):
        played(NodeReader, story)


@pytest.mark.parametrize("story", STORIES)
def test_nothing_false_is_claimed_where_readings_with_a_bug_do(story: Callable[[PoolWorld], None]) -> None:
    played(NodeReader, story)


def test_usage_of_nodes_on_several_pages_is_unverified(pools: PoolWorld) -> None:
    slots_change_between_two_pages(pools)
    assert level_of_nodes(pools) == "unverified"
    pools.service.page_size = 2
    asked(pools)
    assert level_of_nodes(pools) == "exact"
