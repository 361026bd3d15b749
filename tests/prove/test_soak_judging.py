"""The judge of the soak: its verdict on memory and tables that grow, and on those that don't."""

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.prove.soak.judging import Finding, defects_in, judge_failures, judge_memory, judge_rates, judge_tables
from local.prove.soak.record import Record, findings_of, load_record
from local.prove.soak.report import picture, section
from local.prove.soak.watching import Observations, RowCount, TableLook

MINUTES = [step / 6 for step in range(120 * 6)]


def verdicts(findings: list[Finding]) -> dict[str, bool | None]:
    return {finding.name: finding.ok for finding in findings}


def test_memory_that_settles_within_the_first_half_hour_is_flat() -> None:
    series = [(minute, 200 - 60 * math.exp(-minute / 8) + 8 * math.sin(minute)) for minute in MINUTES]
    assert verdicts(judge_memory("host-1", series)) == {"memory of host-1": True, "memory of host-1, fitted": True}


def test_memory_that_grows_as_it_did_once_is_not_flat() -> None:
    series = [(minute, 163 + 518 * minute / 60) for minute in MINUTES]
    assert verdicts(judge_memory("host-1", series)) == {"memory of host-1": False, "memory of host-1, fitted": False}


def test_memory_that_creeps_up_is_not_flat() -> None:
    series = [(minute, 180 + 0.4 * minute) for minute in MINUTES]
    assert judge_memory("host-1", series)[0].ok is False


def test_growth_that_is_given_back_in_the_last_minutes_shows_in_the_fitted_line() -> None:
    series = [(minute, 180 + 4 * minute if minute < 105 else 370) for minute in MINUTES]
    memory, fitted = judge_memory("host-1", series)
    assert (memory.ok, fitted.ok) == (True, False)


def test_a_short_run_says_nothing_of_memory() -> None:
    assert judge_memory("host-1", [(minute, 100) for minute in MINUTES if minute < 50])[0].ok is None
    assert judge_memory("host-1", [])[0].ok is None


def looks(table: str, rows: list[int], largest: int = 1) -> list[TableLook]:
    """Returns a sample every five minutes, with a hundred more blobs in each."""
    return [
        TableLook(number * 5, number * 100, {table: RowCount(count, largest)})
        for number, count in enumerate(rows, start=1)
    ]


@pytest.mark.parametrize(
    ("table", "rows", "largest", "ok"),
    [
        pytest.param("tasks", [min(number, 14) * 100 for number in range(24)], 1, True, id="flat after an hour"),
        pytest.param("tasks", [number * 100 for number in range(24)], 1, False, id="jobs that never go"),
        pytest.param("operations", [300] * 24, 300, True, id="polls that go"),
        pytest.param("operations", [30 * number for number in range(24)], 700, False, id="polls that stay"),
        pytest.param("telemetry", [400 * number for number in range(24)], 9, True, id="as many rows for each blob"),
        pytest.param("telemetry", [20 * number**2 for number in range(24)], 9, False, id="ever more for each blob"),
        pytest.param("jobhistory", [500] * 24, 6, True, id="an hour and a day a row"),
        pytest.param("jobhistory", [500] * 24, 60, False, id="a row a minute"),
        pytest.param("unheard", [1] * 24, 1, False, id="a table that nobody bounds"),
    ],
)
def test_tables_are_judged_by_their_bounds(table: str, rows: list[int], largest: int, *, ok: bool) -> None:
    assert verdicts(list(judge_tables(looks(table, rows, largest)))) == {f"table {table}": ok}


@pytest.mark.parametrize(("rows", "ok"), [(30, True), (300, False)])
def test_the_history_of_pools_is_judged_by_their_number(rows: int, *, ok: bool) -> None:
    seen = [TableLook(120, 2400, {"pools": RowCount(5, 5), "poolhistory": RowCount(rows, rows)})]
    assert verdicts(list(judge_tables(seen)))["table poolhistory"] is ok


def test_a_soak_can_be_judged_again_from_its_record(tmp_path: Path) -> None:
    seen = Observations({"host-1": [(minute, 163 + 8 * minute) for minute in MINUTES]}, looks("tasks", [100] * 24))
    record = Record(
        began=datetime(2026, 11, 23, tzinfo=UTC), version="version 0.1.0, commit abc1234", command="dev.py prove soak",
        minutes=120, blobs=20, queries=5, seen=seen, written=2_400, asked=36_000, failed=3, defects=0,
        notes=[("a", "b")],
    )  # fmt: skip
    record.save(tmp_path / "record.json")
    again = load_record(tmp_path / "record.json")
    assert again == record
    assert verdicts(findings_of(again)) == {
        "memory of host-1": False, "memory of host-1, fitted": False, "table tasks": True, "answers 5xx, or none": True,
        "defects in the hosts' logs": True, "blobs written": True, "questions answered": True,
    }  # fmt: skip
    written = section(again, findings_of(again))
    assert "`dev.py prove soak` on 2026-11-23, version 0.1.0, commit abc1234, " in written
    assert "| a | b | | |" in written
    assert picture(again).startswith("<svg")


STORAGE = """2026-11-23 22:38:08,590 ERROR   -  host.run: node_telemetry failed: Traceback (most recent call last):
  File "tables.py", line 130, in translated
aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "ingestion.py", line 30, in node_telemetry
shared.errors.StorageError: Table Storage didn't write telemetry: Server disconnected
2026-11-23 22:38:09,001 INFO    -  host.run: tick succeeded in 55 ms
"""


def test_a_function_that_fails_as_storage_does_is_no_defect() -> None:
    assert defects_in(STORAGE) == []


@pytest.mark.parametrize(
    "lines",
    [
        "2026-11-23 22:38:10,000 ERROR   -  host.run: tick failed: Traceback (most recent):\n  File\nKeyError: 7\n",
        "2026-11-23 22:38:10,000 ERROR   -  sweep: The reading of a blob broke\n",
        "2026-11-23 22:38:10,000 ERROR   -  asyncio: Task exception was never retrieved\n",
        STORAGE.replace("shared.errors.StorageError: Table", "TypeError: Table").partition("2026-11-23 22:38:09")[0],
    ],
)
def test_any_other_exception_is_a_defect(lines: str) -> None:
    assert defects_in(f"Functions:\n{STORAGE}{lines}{STORAGE}") == [lines.splitlines()[0]]


def test_a_short_run_says_nothing_of_tables() -> None:
    assert [finding.ok for finding in judge_tables(looks("tasks", [1, 200, 4000]))] == [None]
    assert [finding.ok for finding in judge_tables(looks("telemetry", [1, 200, 4000]))] == [None]


def test_failures_defects_and_rates_that_were_not_reached_do_not_hold() -> None:
    assert [finding.ok for finding in judge_failures(1, 1000, 0)] == [True, True]
    assert [finding.ok for finding in judge_failures(9, 1000, 1)] == [False, False]
    assert judge_failures(0, 0, 0)[0].ok is False
    assert judge_rates("blobs", 2_000, 2_400).ok is True
    assert judge_rates("blobs", 1_000, 2_400).ok is False
