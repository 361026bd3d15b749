"""Cores of pools whose nodes have sizes of their own, or vCPUs that the pool sets; unknown ones stay unknown."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.nodes.nodes import Node, NodeSummary, summary_of
from shared.domain.pools.cores import CoreCount, Cores, vcpus_of_node
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_sizes import nodes_by_vm_size, sizes_named, vcpus_in
from shared.domain.pools.pool_totals import totals_of
from shared.domain.pools.pools import NodesSnapshot, Pool, first_seen

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PROFILE = "virtualMachineConfiguration.hardwareProfile"
VCPUS = {"standard_d4s_v5": 4, "standard_e4as_v5": 4, "standard_hb120rs_v3": 120, "standard_unheard": None}
SLOTS = 4


def _node(given: dict[str, Any]) -> Node:
    return Node(**given)


_NODES = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(0, 10**6).map(str),
            "state": st.sampled_from(["idle", "running", "creating", "unusable", "preempted", "deallocated"]),
            "slots": st.integers(0, SLOTS),
            "vm_size": st.sampled_from([*VCPUS, ""]),
        }
    ).map(_node),
    max_size=12,
    unique_by=lambda node: node.id,
)


def settings(available: int | None = None, per_core: int | None = None, sizes: tuple[str, ...] = ()) -> MachineSettings:
    properties = {"vCPUsAvailable": available, "vCPUsPerCore": per_core}
    sent = {
        "virtualMachineConfiguration": {"hardwareProfile": {"vmSizeProperties": properties}},
        "vmSkuProfile": {"vmSizes": [{"name": size} for size in sizes]},
    }
    return msgspec.convert(sent, MachineSettings)


def pool_of(nodes: list[Node], size: str = "Mix", chosen: MachineSettings | None = None) -> Pool:
    facts = PoolFacts("pool", NOW, "active", NOW, size, slots_per_node=SLOTS, settings=chosen)
    return listed(facts, summary_of(nodes, SLOTS))


def listed(facts: PoolFacts, summary: NodeSummary) -> Pool:
    return first_seen(facts, NOW).listed(NodesSnapshot(NOW, NOW, "firstRead", summary, "digest"))


def is_machine(node: Node) -> bool:
    return node.state not in {"preempted", "deallocated"}


@given(_NODES, st.none() | st.integers(1, 4))
def test_cores_are_the_sums_over_nodes_by_their_own_sizes(nodes: list[Node], chosen: int | None) -> None:
    pool = pool_of(nodes, chosen=settings(chosen) if chosen else None)
    of = {node.id: chosen or VCPUS.get(node.vm_size) for node in nodes}
    machines = [of[node.id] for node in nodes if is_machine(node)]
    known = [vcpus for vcpus in machines if vcpus is not None]
    assert pool.core_count
    assert (pool.core_count.known.total, pool.core_count.unknown) == (sum(known), len(machines) - len(known))
    busy = sum((of[node.id] or 0) * node.slots / SLOTS for node in nodes)
    assert pool.core_count.known.busy == pytest.approx(busy, abs=0.001)
    assert pool.cores == (None if None in machines else pool.core_count.known)
    assert pool.sample
    assert pool.sample.numbers.cores == ((pool.cores.total, pool.cores.busy) if pool.cores else None)
    assert [vcpus_in(pool, node) for node in nodes] == [of[node.id] for node in nodes]


@given(_NODES)
def test_nodes_are_counted_by_the_sizes_that_are_known(nodes: list[Node]) -> None:
    named = dict(Counter(node.vm_size for node in nodes if node.vm_size))
    assert nodes_by_vm_size(pool_of(nodes)) == named
    nameless = len(nodes) - sum(named.values())
    with_own = Counter(named) + Counter({"standard_d4s_v5": nameless})
    assert nodes_by_vm_size(pool_of(nodes, "standard_d4s_v5")) == with_own


@given(nodes=_NODES, size=st.sampled_from(list(VCPUS)), is_old=st.booleans())
def test_a_pool_of_one_size_has_the_same_cores_whether_or_not_its_nodes_name_it(
    *, nodes: list[Node], size: str, is_old: bool
) -> None:
    alike = [node._replace(vm_size=size if node.vm_size else "") for node in nodes]
    pool = pool_of(alike, size)
    if is_old:
        pool = listed(pool.facts, replace(summary_of(alike, SLOTS), sizes=None))
    vcpus, machines = VCPUS[size], sum(map(is_machine, nodes))
    assert pool.core_count
    if vcpus is None:
        assert (pool.cores, pool.core_count.unknown) == (None, machines)
    else:
        used = sum(node.slots for node in nodes)
        assert pool.cores
        assert (pool.cores.total, pool.cores.busy) == (vcpus * machines, round(vcpus * used / SLOTS, 3))
    assert nodes_by_vm_size(pool) == ({size: len(nodes)} if nodes else {})


@given(st.lists(_NODES, max_size=4))
def test_an_account_counts_known_cores_and_the_other_machines(pools: list[list[Node]]) -> None:
    totals = totals_of([pool_of(nodes) for nodes in pools])
    machines = [VCPUS.get(node.vm_size) for nodes in pools for node in nodes if is_machine(node)]
    known = [vcpus for vcpus in machines if vcpus is not None]
    assert totals.unknown_cores == len(machines) - len(known)
    assert (totals.cores.total if totals.cores else None) == (sum(known) if known or not machines else None)


@pytest.mark.parametrize(
    ("available", "per_core", "vcpus"),
    [(None, None, 8), (2, None, 2), (2, 1, 2), (6, 2, 6), (None, 1, 4), (None, 2, 8), (None, 3, None), (None, 0, None),
     (0, None, None), (-1, None, None)],
)  # fmt: skip
def test_set_vcpus_count_before_those_of_the_size(
    available: int | None, per_core: int | None, vcpus: int | None
) -> None:
    assert vcpus_of_node("standard_d8s_v5", settings(available, per_core)) == vcpus


def test_set_vcpus_are_known_of_sizes_that_nobody_knows_and_their_share_is_not() -> None:
    assert vcpus_of_node("standard_unheard", settings(2)) == 2
    assert vcpus_of_node("standard_unheard", settings(None, 1)) is None
    assert vcpus_of_node("standard_d1_v2", settings(None, 1)) is None


@pytest.mark.parametrize("left_out", ["virtualMachineConfiguration", f"{PROFILE}.vmSizeProperties.vCPUsAvailable"])
def test_vcpus_that_are_set_but_cannot_be_read_leave_cores_unknown(left_out: str) -> None:
    pool = pool_of([Node("a", "idle", vm_size="standard_d8s_v5")], "standard_d8s_v5")
    pool = replace(pool, facts=replace(pool.facts, settings_left_out=(left_out,)))
    assert (pool.cores, pool.core_count) == (None, CoreCount(Cores(0, 0.0), unknown=1))
    assert vcpus_in(pool, Node("a", "idle")) is None


def test_rows_of_an_earlier_version_of_a_mixed_pool_have_unknown_cores() -> None:
    pool = pool_of([Node("a", "idle", vm_size="standard_d4s_v5"), Node("b", "preempted")])
    assert pool.snapshot
    old = listed(pool.facts, replace(pool.snapshot.summary, sizes=None))
    assert old.core_count
    assert (old.cores, old.core_count.unknown, nodes_by_vm_size(old)) == (None, 1, {})


def test_a_mixed_pool_without_nodes_has_no_cores_and_one_of_an_unknown_size_unknown_ones() -> None:
    empty = pool_of([])
    assert empty.cores
    assert (empty.cores.total, empty.cores.busy) == (0, 0.0)
    assert pool_of([], "standard_unheard").cores is None


def test_sizes_are_those_of_the_pool_that_a_message_names() -> None:
    chosen = settings(sizes=("Standard_D4s_v5", "Standard_D4as_v5", "Standard_D4s_v5_2"))
    pool = pool_of([Node("a", "idle", vm_size="standard_e8-2s_v5")], chosen=chosen)
    message = "No capacity for 'STANDARD_D4S_V5', Standard_E8-2s_v5; try Standard_F4s_v2."
    assert sizes_named(pool, message) == ["Standard_D4s_v5", "standard_e8-2s_v5"]
    assert sizes_named(pool, "Allocation failed in westeurope.") == []
    one = pool_of([], "standard_d4s_v5")
    assert sizes_named(one, "standard_d4s_v5: none left") == ["standard_d4s_v5"]
