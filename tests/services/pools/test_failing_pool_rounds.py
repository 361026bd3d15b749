"""Rounds over pools where Batch fails, throttles, returns invalid data or omits pools: the reports on each pool."""

from datetime import timedelta

import pytest

from shared.domain.reports.reports import UnreadableRow
from shared.errors import BatchAnswerError, BatchError, BatchThrottledError, BatchUnreachableError
from tests.services.fakes.fake_pools import NONSENSE, TruePool
from tests.services.worlds.pool_telling import asked, level_of_nodes, queries
from tests.services.worlds.pool_world import PoolWorld
from tests.services.worlds.process import ACCOUNT


@pytest.mark.parametrize("request_", ["pools", "pools/Alpha/nodes"])
def test_a_failure_is_reported_for_its_pools_only(pools: PoolWorld, request_: str) -> None:
    for name in ("Alpha", "Beta"):
        pool = pools.create(name, 2)
        pools.change_node(pool, min(pool.at(pools.now())), "running", slots=1)
    asked(pools)
    pools.service.refusals[request_] = BatchAnswerError("It broke.")
    asked(pools)
    known = pools.known()
    assert known.last
    failures = {key: known.last.failure_of(pool.key, pool.nodes_as_of) for key, pool in known.resources.items()}
    assert failures == {"alpha": "It broke.", "beta": None if "Alpha" in request_ else "It broke."}
    pools.service.refusals.clear()
    asked(pools)
    after = pools.known()
    assert after.last
    assert [after.last.failure_of(pool.key, pool.nodes_as_of) for pool in after.resources.values()] == [None, None]


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
    assert [known.last.failure_of(pool.key, pool.nodes_as_of) for pool in known.resources.values()] == [None, None]
    assert level_of_nodes(pools) == "exact"
    pools.service.page_size = 1
    asked(pools)
    assert level_of_nodes(pools) == "unverified"


def test_a_pool_with_invalid_data_alone_is_stale_and_not_read_further(pools: PoolWorld) -> None:
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
        assert {key: known.last.failure_of(pool.key, pool.nodes_as_of) for key, pool in known.resources.items()} == {
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
    assert (after.last.failures, sorted(after.resources)) == ({}, ["alpha", "beta", "new"])


def test_a_pool_missing_from_the_list_is_kept_unless_it_is_not_found(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    pools.create("Beta", 1)
    asked(pools)
    pools.service.refusals["pools/Alpha"] = BatchAnswerError("It broke.")
    pools.service.pools.remove(pool)
    asked(pools)
    known = pools.known()
    assert known.last
    assert known.last.failure_of("alpha", known.resources["alpha"].nodes_as_of) == "It broke."
    pools.service.refusals.clear()
    asked(pools)
    assert list(pools.known().resources) == ["beta"]


def test_slow_counts_are_left_and_pools_without_counts_are_listed_whole(pools: PoolWorld) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        pools.create(name, 2)
    pools.service.counts_page = 1
    asked(pools)
    asked(pools)
    pools.wait(60)
    requests = pools.processes[0].batch.requests
    requests.clear()
    pools.poll(takes=3)
    assert requests[:3] == ["pools", "nodecounts", "nodecounts"]
    assert sorted(requests[3:]) == ["pools/Alpha/changes", "pools/Beta/changes", "pools/Gamma/nodes"]
    assert {level_of_nodes(pools, name) for name in ("Alpha", "Beta", "Gamma")} == {"exact"}


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
    assert len(process.batch.requests) <= 1 + 3 + 8  # pools, counts of ten pools each, nodes


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
    left = [pool.snapshot for key, pool in pools.known().resources.items() if key > "pool-01"]
    assert len(left) == 3
    assert all(snapshot and snapshot.as_of <= before for snapshot in left)
    asked(pools)
    assert sorted(pools.known().resources) == ["pool-00", "pool-01"]


def test_a_round_out_of_time_reads_no_nodes_and_keeps_the_listed_pools(pools: PoolWorld) -> None:
    pool = pools.create("Alpha", 2)
    asked(pools)
    pools.add_node(pool)
    pools.wait(60)
    process = pools.processes[0]
    process.batch.requests.clear()
    assert pools.run(process.rounds.run(lambda: False)) == (None, None, True)
    assert process.batch.requests == ["pools", "nodecounts"]
    (known,) = pools.known().resources.values()
    assert known.snapshot
    assert (known.facts.nodes, known.snapshot.summary.total) == (3, 2)


def test_a_deleted_pool_leaves_only_its_usage_behind(pools: PoolWorld) -> None:
    pool: TruePool = pools.create("Alpha", 2)
    pools.create("Beta", 1)
    asked(pools)
    pool.deleted = pools.now()
    assert "pools/Alpha" in asked(pools)
    assert list(pools.known().resources) == ["beta"]
    (left,) = [row for place, (row, _) in pools.storage.rows["nodes"].items() if place[1].startswith("alpha~")]
    assert left.keys() == {"PartitionKey", "RowKey", "digest", "usage0"}
    last = pools.known().last
    assert last
    assert "alpha" not in last.confirmations


def test_a_pool_made_anew_since_the_list_is_not_as_of_that_where_its_row_makes_no_sense(pools: PoolWorld) -> None:
    alpha = pools.create("Alpha", 2)
    pools.wait(60)
    pools.poll()
    rows = pools.storage.rows["pools"]
    place = next(place for place, (row, _) in rows.items() if row["RowKey"] == "alpha")
    row, etag = rows[place]
    rows[place] = ({**row, "pool0": b"nonsense"}, etag)
    assert pools.known().unreadable.keys() == {"alpha"}
    alpha.deleted = pools.now()
    pools.wait(60)
    pools.later(3 * 0.8, lambda: pools.create("Alpha", 2))
    pools.processes[0] = pools.started()
    pools.poll(takes=3)
    assert pools.known().resources.keys() == set()
    last = pools.known().last
    assert last
    assert "The pool 'Alpha' can't be read" in last.failures["alpha"]
    pools.wait(60)
    pools.poll()
    assert pools.known().resources.keys() == {"alpha"}
