"""The agent's records at the end of tasks' runs, as measured attempts."""

import pytest
from msgspec.structs import replace

from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt, attempt_of

WHOSE = Identity("pool", "node", "Job", "Task", "1700000000")
FIELDS: dict[str, Value] = {
    "duration": 2.5, "cpu_time_user": 1.25, "cpu_time_system": 0.5, "memory_peak": 7, "read_bytes": 5,
    "write_bytes": 6, "max_threads": 3, "gpu_usage": 150.0, "gpu_memory_peak": 9,
}  # fmt: skip
SECOND = 10**9
RECORD = Metric("batchscope_task_attempt", {"job_id": "Job"}, FIELDS, 1_700_000_003 * SECOND)


def test_a_record_becomes_an_attempt_in_whole_units() -> None:
    assert attempt_of(RECORD, WHOSE, "Standard_D4s_v5") == MeasuredAttempt(
        "Job", "Task", 1_700_000_000, "standard_d4s_v5", 2500, 1750, 7, 11, 3, 1500, 9
    )


def test_missing_figures_are_unknown() -> None:
    bare = replace(RECORD, fields={"duration": 2.5, "cpu_time_user": 1.0})
    assert attempt_of(bare, WHOSE, "") == MeasuredAttempt("Job", "Task", 1_700_000_000, "", 2500)


@pytest.mark.parametrize(
    "whose",
    [
        Identity("pool", "node", "", "Task", "1"), Identity("pool", "node", "Job", "", "1"),
        Identity("pool", "node", "Job", "Task", ""), Identity("pool", "node", "Job", "Task", "-1"),
        Identity("pool", "node", "Job", "Task", "9" * 20), Identity("pool", "node", "J" * 257, "Task", "1"),
        Identity("pool", "node", "é" * 50, "Task", "1"),
        Identity("pool", "node", "Job", "T" * 65, "1"),
    ],
)  # fmt: skip
def test_a_record_without_a_named_run_is_none(whose: Identity) -> None:
    assert attempt_of(RECORD, whose, "") is None


@pytest.mark.parametrize("duration", [None, "2.5", True, -1, float("nan"), float("inf"), 1 << 60])
def test_a_record_without_a_sensible_duration_is_none(duration: Value | None) -> None:
    fields = {name: value for name, value in (FIELDS | {"duration": duration}).items() if value is not None}
    assert attempt_of(replace(RECORD, fields=fields), WHOSE, "") is None


@pytest.mark.parametrize("value", ["7", True, -1, float("nan"), float("inf"), 1 << 60])
def test_a_figure_without_sense_is_unknown(value: Value) -> None:
    found = attempt_of(replace(RECORD, fields=FIELDS | {"memory_peak": value}), WHOSE, "")
    assert found
    assert found.memory_peak is None


@pytest.mark.parametrize(
    ("start", "duration"), [(1_700_003_605, 2.5), (1_700_000_000, 3605.0), (253_402_300_798, 1.0), (0, 1e11)]
)
def test_a_run_that_ends_after_the_time_of_its_record_is_none(start: int, duration: float) -> None:
    whose = replace_attempt(str(start))
    fields = FIELDS | {"duration": duration}
    assert attempt_of(replace(RECORD, fields=fields), whose, "") is None
    assert attempt_of(replace(RECORD, fields=FIELDS | {"duration": 3602.0}), WHOSE, "")
    assert attempt_of(replace(RECORD, time=None), WHOSE, "") is None


def replace_attempt(attempt: str) -> Identity:
    return Identity("pool", "node", "Job", "Task", attempt)


def test_other_records_and_tasks_of_the_platform_are_left_out() -> None:
    assert attempt_of(replace(RECORD, name="batchscope_task"), WHOSE, "") is None
    assert attempt_of(replace(RECORD, tags={"task_kind": "preparation"}), WHOSE, "") is None
    found = attempt_of(RECORD, WHOSE, "x" * 65)
    assert found
    assert found.vm_size == ""
