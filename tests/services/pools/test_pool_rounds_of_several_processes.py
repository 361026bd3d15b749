"""Rounds over the same pools in several processes, even if some die: no round blocks or undoes another."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import override

import pytest

from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool, PoolConfirmation
from shared.errors import BatchUnreachableError
from tests.services.fakes.fake_pools import FakePools
from tests.services.fakes.memory_tables import Fault
from tests.services.worlds.pool_telling import asked, level_of_nodes
from tests.services.worlds.pool_world import PoolWorld


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
def test_leftovers_of_a_broken_round_hinder_a_process_once_at_most(
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
        before = pools.known().resources["alpha"].as_of
        pools.wait(60)
        pools.change_node(pool, "tvm-002", "running", slots=slots)
        pools.poll(0)
        assert pools.known().resources["alpha"].as_of >= before
        ended = pools.processes[0].rounds.ended
        assert ended
        overtaken.append(ended.overtaken)
    assert overtaken[1:] == [set(), set()]
    assert pools.known().resources["alpha"].as_of == pools.now().replace(microsecond=0)
    assert pools.stored("Alpha")["tvm-002"].slots == 2


def test_leftovers_of_a_process_that_died_amid_writes_go_with_the_next_full_list(
    pools: PoolWorld,
) -> None:
    pool = pools.create("Alpha", 1)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    asked(pools)
    asked(pools)
    pools.wait(1)
    pool.now(pools.now(), {"tvm-001": pool.at(pools.now())["tvm-001"]._replace(scheduling="disabled")})
    pools.wait(60)
    pools.poll(1, fault=Fault(6, committed=False, kills=True))
    assert pools.stored("Alpha")["tvm-001"].scheduling == "disabled"
    assert level_of_nodes(pools) == "unverified"
    pool.now(pools.now(), {"tvm-001": pool.at(pools.now())["tvm-001"]._replace(scheduling="enabled")})
    for _ in range(15):
        pools.wait(60)
        pools.run(pools.processes[0].rounds.run(lambda: True))
    assert pools.stored("Alpha")["tvm-001"].scheduling == "enabled"
    assert level_of_nodes(pools) == "exact"
    asked(pools)


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


def test_an_older_list_is_not_written_over_a_later_one(pools: PoolWorld) -> None:
    """A node takes and releases a slot during the slower round; the faster one finds the stored state."""
    pool = pools.create("Alpha", 2)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    pools.poll(0)
    pools.wait(60)
    pools.poll(0)
    pools.wait(60)
    faster = pools.now() + timedelta(seconds=28)
    pools.later(20, lambda: pools.change_node(pool, "tvm-001", "running", slots=2))
    pools.later(27, lambda: pools.change_node(pool, "tvm-001", "running", slots=1))
    pools.later(28, lambda: pools.poll_beside(1))
    pools.poll(0, takes=10)
    assert pools.known().resources["alpha"].as_of == faster
    assert pools.stored("Alpha")["tvm-001"].slots == 1


def overwrite_a_faster_round(pools: PoolWorld, at: float) -> None:
    """Ends a faster round `at` seconds into the slower one, after that has checked for a faster one."""
    pool = pools.create("Alpha", 2)
    pools.change_node(pool, "tvm-001", "running", slots=1)
    pools.poll(0)
    pools.wait(60)
    pools.poll(0)
    pools.wait(60)
    pools.processes[0].batch.latency, pools.processes[0].connection.latency = 6, 5
    slow = pools.loop.create_task(pools.processes[0].rounds.run(lambda: True))
    pools.later(22, lambda: pools.change_node(pool, "tvm-001", "running", slots=2))
    pools.later(26, lambda: pools.change_node(pool, "tvm-001", "running", slots=1))
    pools.later(at, lambda: pools.poll_beside(1))
    pools.run(asyncio.wait_for(slow, 3600))
    pools.check(fresh=[])


def comes_right(pools: PoolWorld) -> None:
    for _ in range(2):
        pools.wait(60)
        pools.poll(1)
    assert level_of_nodes(pools) == "exact"
    assert pools.stored("Alpha")["tvm-001"].slots == 1


def confirmed_before_a_slower_round_writes(pools: PoolWorld, at: float) -> None:
    overwrite_a_faster_round(pools, at)
    comes_right(pools)


@pytest.mark.parametrize("at", range(27, 60, 3))
def test_a_slower_round_takes_as_of_back_nowhere(pools: PoolWorld, at: int) -> None:
    confirmed_before_a_slower_round_writes(pools, at)


def rounds_that_do_not_reach_an_overtaken_pool(pools: PoolWorld, request: str | None) -> None:
    """Batch refuses a request, or time runs out immediately (None): the two rounds' result and its `asOf` stay."""
    overwrite_a_faster_round(pools, 36)
    before = pools.known().resources["alpha"]
    assert before.is_overtaken
    if request:
        pools.service.refusals[request] = BatchUnreachableError("http://127.0.0.1:1", "no answer")
    for process in pools.processes[::-1]:
        pools.wait(10)
        pools.run(process.rounds.run(lambda: request is not None))
        pools.check(fresh=[])
        after = pools.known().resources["alpha"]
        assert (after.as_of, after.is_overtaken) == (before.as_of, True)
    pools.service.refusals.clear()
    comes_right(pools)


@pytest.mark.parametrize("request_", ["pools", "pools/Alpha/nodes", None])
def test_a_round_that_does_not_reach_an_overtaken_pool_leaves_it_as_it_is(
    pools: PoolWorld, request_: str | None
) -> None:
    rounds_that_do_not_reach_an_overtaken_pool(pools, request_)


def confirmed_as_it_is_stored(pool: Pool) -> PoolConfirmation | None:
    if pool.snapshot and pool.is_overtaken:
        pool = replace(pool, snapshot=replace(pool.snapshot, doubt=None))
    return REAL_CONFIRMATION(pool)


REAL_CONFIRMATION = Pool.confirmation


def test_an_overtaken_pool_that_is_confirmed_as_it_is_stored_is_noticed(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pool, "confirmation", confirmed_as_it_is_stored)
    with pytest.raises(AssertionError):
        rounds_that_do_not_reach_an_overtaken_pool(pools, "pools")


class Overtaken(FakePools):
    """After a GET of a deleted pool, re-creates it under its id; another process polls that immediately."""

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
    assert len(pools.stored("Alpha")) == pools.known().resources["alpha"].facts.nodes == 3
