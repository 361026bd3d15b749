"""Sums over ended attempts, from lines as the node agent writes them."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.telemetry.catalog.catalog import ENDED_ATTEMPTS
from shared.domain.telemetry.pools.node_minutes import minutes_of
from shared.domain.telemetry.query.ended_attempts import NAMES, EndedAttempt, ended_attempts, start_of
from shared.domain.telemetry.query.series_selectors import names_of
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.rollups import Rollups, hours_of, merged
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, at, taken

START = BEGIN // SECOND
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FULL = (
    "duration=90.5,end_uncertainty=10,cpu_time_user=100.25,cpu_time_system=20.5,cpu_time_missed_max=0.125,"
    "memory_peak=4096i,read_bytes=512i,write_bytes=1024i,max_threads=9i,gpu_memory_peak=2048i,"
    "gpu_usage=150"
)


def record(fields: str, *, start: int = START, tags: str = "", seconds: int = 100) -> Metric:
    return at(seconds, f"batchscope_task_attempt,job_id=j,task_id=t,task_attempt={start}{tags} {fields}")


def of(*records: Metric) -> Rollups:
    return merged(taken(*records).rollups.values())


def test_all_figures_of_an_attempt_are_those_that_the_agent_wrote() -> None:
    found = ended_attempts(of(record(FULL, tags=",cpu_time_from=exit_accounting,memory_peak_from=kernel")), LONG_AGO)
    begin = datetime.fromtimestamp(START, UTC)
    assert found == [
        EndedAttempt(
            start=begin, end=begin + timedelta(seconds=100), duration=90.5, duration_uncertainty=10, cpu_time=120.75,
            cpu_missed=0.125, cpu_source="exit_accounting", memory_peak=4096, memory_source="kernel", read_bytes=512,
            written_bytes=1024, threads=9, gpu_memory_peak=2048, gpu_usage=1.5,
        )
    ]  # fmt: skip


def test_figures_that_the_agent_did_not_write_are_unknown_and_not_zero() -> None:
    (found,) = ended_attempts(of(record("duration=1.5,memory_peak=0i")), LONG_AGO)
    assert (found.duration, found.memory_peak) == (1.5, 0)
    assert (found.cpu_time, found.cpu_missed, found.cpu_source, found.memory_source) == (None,) * 4
    assert (found.read_bytes, found.written_bytes, found.threads, found.gpu_usage) == (None,) * 4


def test_attempts_stay_apart_and_come_latest_first() -> None:
    earlier, later = record("duration=1", start=START), record("duration=2", start=START + 50, seconds=120)
    found = of(earlier, later)
    assert [one.duration for one in ended_attempts(found, LONG_AGO)] == [2, 1]
    assert [one.duration for one in ended_attempts(found, datetime.fromtimestamp(START + 1, UTC))] == [2]


def test_a_sum_survives_the_roll_up_to_hours_exactly_also_while_both_are_stored() -> None:
    minutes = of(record(FULL))
    hours = hours_of(minutes)
    exact = ended_attempts(minutes, LONG_AGO)
    assert exact[0].cpu_time == 120.75
    assert ended_attempts(hours, LONG_AGO) == exact
    assert ended_attempts(merged((hours, minutes)), LONG_AGO) == exact


@pytest.mark.parametrize("name", ["", "-1", "later", "٣", "9" * 30])
def test_an_attempt_that_no_start_names_is_none(name: str) -> None:
    assert start_of(name) is None


def test_only_their_own_name_selects_series_of_ended_attempts() -> None:
    for name in (None, "batchscope", "batchscope.task", "batchscope.task.cpu"):
        assert not [one for one in names_of(name) if one.startswith(ENDED_ATTEMPTS)]
    assert names_of(f"{NAMES}.cpu") == (f"{NAMES}.cpu.time", f"{NAMES}.cpu.missed")
    assert {series.name for series in of(record(FULL))} == set(names_of(NAMES))


def test_pools_have_no_metrics_of_ended_attempts() -> None:
    assert minutes_of(of(record(FULL))) == {}
