"""Failed reads of outputs, and when they are tried again."""

from datetime import UTC, datetime, timedelta

from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.output_limits import MAX_TRIES
from shared.services.files.failed_reads import FailedReads

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
RUNS = [FailedRun(at, f"t{at}", "a", ("pool", "n1")) for at in range(3)]


def test_a_run_whose_read_failed_comes_behind_the_others_and_only_after_a_while() -> None:
    reads = FailedReads()
    assert reads.split("demo", "job", RUNS, NOW) == (RUNS, [])
    assert reads.note("demo", "job", RUNS[0], NOW)
    assert reads.split("demo", "job", RUNS, NOW) == (RUNS[1:], RUNS[:1])
    assert reads.split("demo", "job", RUNS, NOW + timedelta(minutes=1)) == ([*RUNS[1:], RUNS[0]], [])
    assert reads.split("other", "job", RUNS, NOW) == reads.split("demo", "other", RUNS, NOW) == (RUNS, [])
    assert reads.split("demo", "job", [RUNS[0]._replace(ended=9)], NOW)[1] == []


def test_reads_are_tried_for_half_an_hour_and_then_no_more() -> None:
    reads, now, tries = FailedReads(), NOW, 1
    while reads.note("demo", "job", RUNS[0], now):
        while reads.split("demo", "job", RUNS[:1], now)[1]:
            now += timedelta(minutes=1)
        tries += 1
    assert (tries, now - NOW) == (MAX_TRIES, timedelta(minutes=31))


def test_a_run_that_was_read_begins_anew() -> None:
    reads = FailedReads()
    reads.note("demo", "job", RUNS[0], NOW)
    reads.forget("demo", "job", RUNS[0])
    assert reads.split("demo", "job", RUNS, NOW) == (RUNS, [])
