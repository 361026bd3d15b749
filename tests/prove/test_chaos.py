"""The faults of the proof, drawn from a seed."""

import random
from typing import Any

from local.batch_emulator.core.injection import read_fault
from local.batch_emulator.core.settings import EmulatorSettings
from local.prove.exact.chaos import CALM, Kinds, kind_of, plan_cycle, struck
from local.prove.exact.ids import JOBS, task_id

_PLANS = [plan_cycle(seed, number, Kinds()) for seed in range(5) for number in range(1, 41)]


def test_the_same_seed_gives_the_same_cycles() -> None:
    assert [plan_cycle(3, number, Kinds()) for number in range(1, 41)] == _PLANS[120:160]


def test_counts_never_lag_where_tasks_are_deleted_or_reported_late() -> None:
    assert all(plan.knobs["countLagSeconds"] == 0 for plan in _PLANS if plan.deletions or plan.late_seconds)
    assert all(any(plan.knobs["countLagSeconds"] == lag for plan in _PLANS) for lag in (0, 0.5, 1.0, 2.0))
    assert any(plan.deletions and plan.late_seconds for plan in _PLANS)


def test_late_reports_are_later_than_the_overlap_of_the_local_stack_and_the_clocks_of_its_nodes() -> None:
    assert all(plan.late_seconds >= 4 for plan in _PLANS if plan.late_seconds)


def test_excluded_kinds_are_not_planned() -> None:
    plans = [plan_cycle(1, number, Kinds(deletions=False, late_reports=False)) for number in range(1, 41)]
    assert not any(plan.deletions or plan.late_seconds for plan in plans)


def test_the_emulator_takes_every_knob_and_fault() -> None:
    for plan in _PLANS:
        EmulatorSettings().with_changes(plan.knobs)
        assert all(read_fault(fault).count for fault in plan.faults)
    assert EmulatorSettings().with_changes(CALM) == EmulatorSettings()


def test_every_kind_of_fault_comes_up_in_a_run() -> None:
    kinds = {kind_of(fault) for plan in _PLANS[:17] for fault in plan.faults}
    wanted = {"429", "429, Retry-After", "503", "503, Retry-After", "500"}
    assert kinds == wanted | {"connection reset", "body truncated", "answer delayed"}


def test_faults_are_counted_by_remaining_counts() -> None:
    posted = [{"reset": True, "count": 3}, {"status": 429, "count": 1}, {"reset": True, "count": 2}]
    late = {"count": None, "lateReportSeconds": 5.0}
    left: list[dict[str, Any]] = [late, *({"count": count, "lateReportSeconds": 0.0} for count in (1, 0, 2))]
    assert struck(posted, left) == {"connection reset": 2, "429": 1}


def test_task_ids_of_a_job_differ_regardless_of_case() -> None:
    chance = random.Random(1)  # noqa: S311
    for style in range(120):
        names = {task_id(style, number, chance).lower() for number in range(300)}
        assert len(names) == 300
        assert max(map(len, names)) <= 64


def test_job_ids_are_valid_and_differ_regardless_of_case() -> None:
    assert len({name.lower() for name in JOBS}) == len(JOBS)
    assert max(map(len, JOBS)) == 64
