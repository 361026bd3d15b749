"""What a replay reads of a job's cached tasks, in leaves of four tasks."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.cost.usage_days import NodeKind
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.prices.price_table import PriceTable
from shared.domain.tasks.tasks import Task
from shared.domain.usage.usage_ledger import UsageHours, UsageKind, UsageLedger
from shared.services.efficiency.replay_evidence import PoolEvidence, ended_tasks
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.pools.nodes import StoredNodes
from tests.services.fakes.truth import COMPLETED
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import World

DEDICATED = UsageKind("idle", dedicated=True, vm_size="")
SPOT = UsageKind("idle", dedicated=False, vm_size="Standard_D8s_v5")
NAMES = [f"task-{number:02}" for number in range(60)]


def test_all_ended_tasks_of_a_small_job_are_read_and_a_part_of_a_large_one(world: World) -> None:
    job = world.create("Render", *NAMES)
    polled_for_a_while(world)
    for name in NAMES[:50]:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta())
    polled_for_a_while(world)
    process = world.started()
    leaves = LeafReader(Queries(process.registry, process.stores), process.cache)

    def read(most: int) -> list[str]:
        return [task.id for task in world.run(ended_tasks(leaves, world.report("Render"), most))]

    assert read(60) == NAMES[:50]
    some = read(20)
    assert 0 < len(some) <= 24
    assert some[0] == NAMES[0]
    assert max(some) > NAMES[40]


def test_ended_tasks_of_a_large_job_that_has_just_begun_are_found(world: World) -> None:
    job = world.create("Begun", *NAMES)
    polled_for_a_while(world)
    for name in NAMES[20:28]:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta())
    polled_for_a_while(world)
    process = world.started()
    leaves = LeafReader(Queries(process.registry, process.stores), process.cache)
    assert world.run(ended_tasks(leaves, world.report("Begun"), 20))
    some = [task.id for task in world.run(ended_tasks(leaves, world.report("Begun"), 6))]
    assert 0 < len(some) < 8
    assert set(some) <= set(NAMES[20:28])


@pytest.mark.parametrize(
    ("hours", "spot", "expected"),
    [
        ({}, 0, NodeKind("standard_d4s_v5", dedicated=True)),
        ({}, 3, NodeKind("standard_d4s_v5", dedicated=False)),
        ({1: {DEDICATED: 7, SPOT: 3}, 2: {SPOT: 3}}, 3, NodeKind("standard_d4s_v5", dedicated=True)),
        ({1: {DEDICATED: 5, SPOT: 3}, 2: {SPOT: 3}}, 0, NodeKind("standard_d8s_v5", dedicated=False)),
    ],
)
def test_nodes_that_are_gone_are_of_the_kind_that_the_pool_had_longest(
    hours: UsageHours, spot: int, expected: NodeKind
) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    facts = PoolFacts("Pool", at, "active", at, "Standard_D4s_v5", dedicated=Size(0, 0), spot=Size(spot, spot))
    stored = StoredNodes("account", "pool", usage=UsageLedger(0, 0, hours))
    pool = PoolEvidence(facts, stored, None, PriceTable("USD"), 0)
    ran = Task("task", 3, node=("pool", "tvm-1"))
    assert pool.kinds([ran, ran]) == {expected: 1}
