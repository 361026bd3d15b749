"""A round's requests for nodes: all nodes where changes alone don't suffice, and no more than necessary otherwise."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.errors import BatchAnswerError, BatchError
from shared.services.pools.node_reader import NodeReader
from shared.services.round.resource_state import RoundRules
from shared.stores.pools.nodes import StoredNodes
from tests.services.worlds.pool_telling import asked, level_of_nodes
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT


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


@pytest.mark.parametrize("refusals", [{}, {"nodecounts": BatchAnswerError("It broke.")}])
def test_nodes_of_a_growing_pool_are_listed_though_its_size_and_counts_show_none(
    pools: PoolWorld, refusals: dict[str, BatchError]
) -> None:
    pool = pools.create("Alpha")
    assert asked(pools) == ["pools"]
    pools.service.count_lag = timedelta(seconds=90)
    pools.service.refusals |= refusals
    pool.resizing_since = pools.now()
    pools.wait(1)
    for _ in range(2):
        pools.add_node(pool)
    assert asked(pools) == ["pools", "nodecounts", "pools/Alpha/nodes"]
    assert sorted(pools.stored("Alpha")) == ["tvm-001", "tvm-002"]
    assert level_of_nodes(pools) == "exact"


def test_a_pool_size_of_zero_is_not_believed_without_counts(
    pools: PoolWorld,
) -> None:
    pools.create("Alpha")
    pools.create("Beta", 1)
    pools.service.refusals["nodecounts"] = BatchAnswerError("It broke.")
    assert sorted(asked(pools)) == ["nodecounts", "pools", "pools/Alpha/nodes", "pools/Beta/nodes"]


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


def test_all_nodes_are_listed_where_only_the_size_shows_a_loss(pools: PoolWorld) -> None:
    """The counts lag, and the service dates no resize: losing a node for good isn't one."""
    pool = pools.create("Alpha", 3)
    pool.dates_resizes = False
    asked(pools)
    asked(pools)
    pools.service.count_lag = timedelta(seconds=90)
    pools.remove_node(pool, "tvm-002")
    pools.wait(1)
    assert asked(pools)[-2:] == ["pools/Alpha/changes", "pools/Alpha/nodes"]
    assert sorted(pools.stored("Alpha")) == ["tvm-001", "tvm-003"]


def test_pools_that_change_between_two_pages_of_counts_are_each_compared_as_of_their_own_page(pools: PoolWorld) -> None:
    alpha, beta = pools.create("Alpha", 2), pools.create("Beta", 2)
    pools.service.counts_page = 1
    asked(pools)
    asked(pools)
    pools.wait(60)
    pools.processes[0].batch.requests.clear()
    for pool, node in ((alpha, "tvm-001"), (beta, "tvm-003")):  # behind the page of one, ahead of that of the other
        pools.later(3 * 2.2, partial(pools.change_node, pool, node, "offline"))
    pools.poll(takes=3)
    requests = pools.processes[0].batch.requests
    assert requests[:3] == ["pools", "nodecounts", "nodecounts"]
    assert sorted(requests[3:]) == ["pools/Alpha/changes", "pools/Alpha/nodes", "pools/Beta/changes"]
    for pool in (alpha, beta):
        assert {name: node.state for name, node in pools.stored(pool.id).items()} == {
            name: node.state for name, node in pool.at(pools.now()).items()
        }
        assert level_of_nodes(pools, pool.id) == "exact"


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


def test_nodes_with_broken_rows_are_read_anew_in_full(pools: PoolWorld) -> None:
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

    async def fetch(pool_id: str, *, recent_as_of: datetime | None = None, **options: Any) -> Any:
        if recent_as_of:
            asked_at.append(round((recent_as_of - begun).total_seconds() / 60))
        return await fetch_nodes(pool_id, recent_as_of=recent_as_of, **options)

    monkeypatch.setattr(batch, "fetch_nodes", fetch)
    for _ in range(7):
        pools.wait(60)
        pools.poll()
    assert asked_at == minutes


def test_versions_of_agents_are_asked_for_where_nodes_are_new_or_lack_one(
    pools: PoolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pools.create("Alpha", 2)
    batch, asked = pools.processes[0].batch, list[bool]()
    fetch_nodes = batch.fetch_nodes

    async def fetch(pool_id: str, *, agents: bool = False, **options: Any) -> Any:
        asked.append(agents)
        return await fetch_nodes(pool_id, agents=agents, **options)

    def polled(name: str, **changes: Any) -> list[bool]:
        """Returns what two polls asked for after a node changed; all nodes are busy."""
        nodes = {key: node._replace(state="running", slots=1) for key, node in pool.at(pools.now()).items()}
        pool.now(pools.now(), {**nodes, name: nodes[name]._replace(**changes)})
        asked.clear()
        for _ in range(2):
            pools.wait(60)
            pools.poll()
        return list(asked)

    monkeypatch.setattr(batch, "fetch_nodes", fetch)
    assert polled("tvm-001", agent="1.2") == [True, True]
    assert [node.agent for node in pools.stored("Alpha").values()] == ["1.2", ""]
    assert polled("tvm-002", agent="1.3") == [True, False]
    assert [node.agent for node in pools.stored("Alpha").values()] == ["1.2", "1.3"]
    pool.now(pools.now(), {**pool.at(pools.now()), "tvm-009": Node("tvm-009", "creating")})
    assert polled("tvm-009") == [True, True]


def test_counting_of_a_pool_that_is_stored_as_older_than_itself_begins_anew_with_it(pools: PoolWorld) -> None:
    """Rows of older versions may describe a pool that was deleted and re-created under its id within one round."""
    pools.create("Alpha", 2)
    pools.poll()
    pools.wait(60)
    (pool,) = pools.known().resources.values()
    assert pool.snapshot
    created = pool.facts.creation_time + timedelta(seconds=30)
    younger = replace(pool, facts=replace(pool.facts, creation_time=created))
    reading = NodeReader(pools.processes[0].batch, RoundRules(timedelta(), timedelta(hours=1), timedelta()))
    stored = StoredNodes(ACCOUNT.key, pool.key, tally=pool.snapshot.tally)
    snapshot, nodes = pools.run(reading.read(younger, stored, None, pools.now()))
    assert snapshot.tally
    assert snapshot.tally.since >= to_milliseconds(created)
    assert len(nodes) == 2
