"""When event ingestion is a problem, and how it is reported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep, Totals
from shared.domain.telemetry.rollups.intake_counts import TelemetryTotals

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)
WELL = PartitionSweep(NOW - timedelta(minutes=1), blobs=3)
LATE = NOW - timedelta(minutes=11)
FAR = replace(WELL, behind_blobs=2, behind_bytes=9_000_000, behind_since=LATE)


def problem(sweep: PartitionSweep | None) -> str | None:
    return IngestionReport("demo", "logs", sweep, Totals()).problem(NOW)


@pytest.mark.parametrize(
    "sweep",
    [
        None,
        WELL,
        replace(FAR, behind_since=NOW - timedelta(minutes=9)),
        replace(FAR, behind_bytes=200),
        replace(WELL, at=LATE, blobs=0),
    ],
    ids=["never looked at", "all read", "behind for a while", "half a record at the end", "no logs are left"],
)
def test_it_is_no_problem(sweep: PartitionSweep | None) -> None:
    assert problem(sweep) is None


@pytest.mark.parametrize(
    ("sweep", "sentence"),
    [
        (replace(WELL, at=LATE), "the logs weren't looked at since 2026-11-21 19:49:00 UTC."),
        (FAR, "9000000 bytes of 2 logs are unread, some since 2026-11-21 19:49:00 UTC."),
        (replace(WELL, problems=("a.json: It is gone.",)), "a.json: It is gone."),
        (
            replace(WELL, problems=("a.json: It is gone.", "b.json: It is gone.")),
            "a.json: It is gone. (Logs that can't be read: 2.)",
        ),
    ],
    ids=["no sweep for long", "far behind", "a log that can't be read", "two of them"],
)
def test_a_problem_is_shown_in_a_sentence(sweep: PartitionSweep, sentence: str) -> None:
    assert problem(sweep) == sentence


def test_unread_telemetry_is_a_problem_beyond_a_bound_for_each_blob() -> None:
    def problem_of(sweep: PartitionSweep | None) -> str | None:
        return IngestionReport("demo", "logs", WELL, Totals(), sweep).telemetry_problem(NOW)

    assert problem_of(None) is None
    assert problem_of(WELL) is None
    assert problem_of(replace(FAR, behind_blobs=2, behind_bytes=2 * 64 * 1024)) is None
    assert problem_of(replace(FAR, behind_blobs=2, behind_bytes=2 * 64 * 1024 + 1)) == (
        "131073 bytes of 2 blobs are unread, some since 2026-11-21 19:49:00 UTC."
    )
    assert problem_of(replace(WELL, at=LATE)) == "the blobs weren't looked at since 2026-11-21 19:49:00 UTC."
    broken = replace(WELL, problems=("a: It is gone.", "b: It is gone."))
    assert problem_of(broken) == "a: It is gone. (Blobs that can't be read: 2.)"


def test_telemetry_that_is_lost_is_a_problem_for_a_day() -> None:
    def problem_of(lost_at: datetime | None) -> str | None:
        totals = TelemetryTotals(bytes=9, lost=7, lost_at=lost_at)
        return IngestionReport("demo", "logs", WELL, Totals(), WELL, totals).telemetry_problem(NOW)

    assert problem_of(LATE) == (
        "7 bytes stand behind damaged streams and can't be read (see the rejects), the last since"
        " 2026-11-21 19:49:00 UTC."
    )
    assert problem_of(NOW - timedelta(hours=25)) is None
    assert problem_of(None) is None
