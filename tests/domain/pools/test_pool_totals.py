"""The sums of an account's pools: unknown values are left out, and reported as such."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.nodes.nodes import NodeSummary, by_state, ordered
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_totals import totals_of
from shared.domain.pools.pools import NodesSnapshot, Pool, first_seen

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SIZES = ("standard_d4s_v5", "standard_hb120rs_v3", "an_unknown_size")


def pool_of(name: str, size: str, *, state: str = "active", counts: dict[str, int] | None = None) -> Pool:
    """Returns a pool with two slots a node, half of them used; without `counts` its nodes weren't read."""
    pool = first_seen(PoolFacts(name, NOW, state, NOW, size, slots_per_node=2), NOW)
    if counts is None:
        return pool
    nodes = sum(counts.values())
    ordered_states = ordered(Counter({(state, True): number for state, number in counts.items()}))
    summary = NodeSummary(ordered_states, slots=2 * nodes, used=nodes, free=counts.get("idle", 0), tasks=nodes)
    return pool.listed(NodesSnapshot(NOW - timedelta(seconds=nodes), NOW, "firstRead", summary, "digest"))


_COUNTS = st.dictionaries(
    st.sampled_from(("idle", "running", "unusable", "preempted", "deallocated")), st.integers(1, 5_000), max_size=3
)
_POOLS = st.lists(
    st.builds(
        pool_of,
        st.text("abc", min_size=1),
        st.sampled_from(SIZES),
        state=st.sampled_from(("active", "deleting")),
        counts=st.none() | _COUNTS,
    ),
    max_size=8,
)


def machines_of(pool: Pool) -> int:
    """Returns the number of read nodes that have a machine."""
    states = by_state(pool.snapshot.summary.counts) if pool.snapshot else {}
    return sum(number for state, number in states.items() if state not in {"preempted", "deallocated"})


@given(_POOLS)
def test_totals_are_the_sums_of_the_pools(pools: list[Pool]) -> None:
    totals = totals_of(pools)
    summaries = [pool.snapshot.summary for pool in pools if pool.snapshot]
    assert totals.pools == len(pools)
    assert totals.unread == len(pools) - len(summaries)
    assert sum((Counter(by_state(each.counts)) for each in summaries), Counter()) == totals.nodes
    assert (totals.slots, totals.used, totals.free) == (
        sum(each.slots for each in summaries),
        sum(each.used for each in summaries),
        sum(each.free for each in summaries),
    )
    known = [pool for pool in pools if pool.facts.vm_size != SIZES[2]]
    machines = sum(map(machines_of, known))
    assert machines + totals.unknown_cores == sum(map(machines_of, pools))
    if totals.cores:
        vcpus = {SIZES[0]: 4, SIZES[1]: 120}
        expected = sum(vcpus[p.facts.vm_size] * machines_of(p) for p in known)
        busy = sum(vcpus[p.facts.vm_size] * p.snapshot.summary.used for p in known if p.snapshot) / 2
        assert (totals.cores.total, totals.cores.busy) == (expected, busy)
    else:
        assert totals.unknown_cores == sum(map(machines_of, pools)) > 0


def test_sums_are_as_of_the_pool_that_was_read_longest_ago() -> None:
    totals = totals_of([pool_of("a", SIZES[0], counts={"idle": 3}), pool_of("b", SIZES[0], counts={"idle": 7})])
    assert totals.as_of == NOW - timedelta(seconds=7)


@pytest.mark.parametrize(
    ("pools", "shows_nodes"),
    [
        ([], True),
        ([pool_of("a", SIZES[0])], False),
        ([pool_of("a", SIZES[0]), pool_of("b", SIZES[0], counts={})], True),
    ],
)
def test_zero_nodes_are_shown_only_where_nodes_were_read(pools: list[Pool], *, shows_nodes: bool) -> None:
    assert totals_of(pools).knows_nodes is shows_nodes


def test_nodes_without_known_cores_make_no_zero() -> None:
    pool = pool_of("a", SIZES[2], counts={"idle": 3})
    assert (totals_of([pool]).cores, totals_of([pool]).unknown_cores) == (None, 3)
    known = replace(pool, facts=replace(pool.facts, vm_size=SIZES[0]))
    both = totals_of([pool, known])
    assert both.cores
    assert (both.cores.total, both.unknown_cores) == (12, 3)
