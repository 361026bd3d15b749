"""Comparisons of a job's tasks from its leaves, of four tasks each: samples, positions, and nodes whose tasks fail."""

import pytest

from shared.domain.contrasts import sampling
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.services.tasks.task_comparisons import ComparisonReport, TaskComparisons
from shared.stores.telemetry.measured_attempts import MeasuredAttemptStore
from tests.services.fakes.memory_tables import MemoryTables
from tests.services.queries.test_failing_node_digests import fail_alone, staged
from tests.services.worlds.world import World


def compared(world: World) -> ComparisonReport:
    process = world.started()
    queries, attempts = (
        Queries(process.registry, process.stores),
        MeasuredAttemptStore(MemoryTables(process.connection)),
    )
    comparisons = TaskComparisons(queries, LeafReader(queries, process.cache), process.stores, attempts)
    return world.run(comparisons.of_job("demo", "Render"))


def test_a_position_is_that_in_the_whole_job_although_a_sample_is_compared(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_alone(world, staged(world, 0))
    monkeypatch.setattr(sampling, "MAX_SUCCEEDED", 35)
    comparison = compared(world).comparison
    assert (comparison.failed, 20 < comparison.succeeded < 60) == (8, True)
    (found,) = comparison.contrasts
    bounds = {one.attribute: (one.low, one.high) for one in (found, *found.alike)}
    assert bounds["position"] == (106, None)


def test_a_failing_node_is_found_by_all_of_its_tasks_although_a_sample_is_compared(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged(world, 8)
    monkeypatch.setattr(sampling, "MAX_SUCCEEDED", 35)
    (found,) = compared(world).findings
    assert (found.evidence["failedTasks"], found.evidence["endedTasks"]) == (8, 23)
    assert found.evidence["otherNodes"] == 6


def test_a_node_that_alone_ran_tasks_when_they_failed_is_not_named(world: World) -> None:
    fail_alone(world, staged(world, 0))
    report = compared(world)
    assert (report.comparison.result, report.findings) == ("apart", [])
