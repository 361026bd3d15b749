"""Missed runs, against a service that is simulated second by second and keeps the record that the real one lacks."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.schedules.missed_runs import MissedRuns, missed_runs
from shared.domain.schedules.schedules import Recurrence, Schedule, ScheduleFacts, first_seen

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
LONG = 0.37  # extra seconds that every job takes: none ends at the instant when another is due


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def length(seconds: int | None) -> str | None:
    return None if seconds is None else f"PT{seconds}S"


@dataclass
class Record:
    """Jobs as the service creates them: each one's time and due time; and the due times without a job."""

    interval: int
    window: int | None
    first: int
    lengths: list[int]
    made: list[tuple[float, int]] = field(default_factory=list)

    def play(self, until: int) -> None:
        """Simulates second by second until then; jobs in between end at their own time."""
        ends, waiting = None, None
        for second in range(until + 1):
            if ends is not None and ends < second:
                free, ends = ends, None
                if waiting is not None and (self.window is None or free <= waiting + self.window):
                    ends, waiting = self._make(free, waiting), None
            if second >= self.first and (second - self.first) % self.interval == 0:
                waiting = second
                if ends is None:
                    ends, waiting = self._make(second, second), None

    def _make(self, moment: float, due: int) -> float:
        self.made.append((moment, due))
        return moment + self.lengths[(len(self.made) - 1) % len(self.lengths)] + LONG

    def made_by(self, moment: int) -> list[float]:
        return [when for when, _ in self.made if when <= moment]

    def next_due(self, moment: int) -> int:
        turns = max((moment - self.first) // self.interval + 1, 0)
        return self.first + turns * self.interval

    def lost(self, since: int, by: int) -> int:
        """Returns the number of due times since `since` that are missed by `by`, counted one by one."""
        taken = {due for when, due in self.made if when <= by}
        turns = [turn for turn in range(self.first, by + 1, self.interval) if turn >= since and turn not in taken]
        over = [turn + min(self.interval, self.window or self.interval) for turn in turns]
        return sum(by > end or by == turn + self.interval for turn, end in zip(turns, over, strict=True))

    def facts(self, moment: int, touched: int = 0, state: str = "active") -> ScheduleFacts:
        number = len(self.made_by(moment))
        return ScheduleFacts(
            id="Nightly",
            creation_time=START,
            last_modified=at(touched),
            state=state,
            state_transition_time=START if state == "active" else at(moment),
            recurrence=Recurrence(
                at(self.first) if self.first else None, None, length(self.window), f"PT{self.interval}S"
            ),
            next_run_time=at(self.next_due(moment)) if state == "active" else None,
            recent_job=f"Nightly:job-{number}" if number else None,
        )

    def known(self, moment: int) -> dict[int, datetime]:
        return {number: at(when) for number, when in enumerate(self.made_by(moment), 1)}


records = st.builds(
    Record,
    interval=st.integers(60, 200),
    window=st.none() | st.integers(60, 300),
    first=st.integers(0, 150),
    lengths=st.lists(st.integers(0, 700), min_size=1, max_size=6),
)
looks = st.lists(st.integers(0, 2000), min_size=1, max_size=6, unique=True).map(sorted)


def begun(since: int, until: int) -> datetime | None:
    """Returns the start of the count; None if no run was due."""
    return at(since) if since <= until else None


def followed(record: Record, moments: list[int], touches: dict[int, int]) -> Schedule:
    """Returns a schedule after polls at those moments; `touches` are the times of its last modification."""
    record.play(moments[-1])
    schedule = None
    for before, moment in zip([0, *moments], moments, strict=False):
        facts = record.facts(moment, touches.get(moment, 0))
        schedule = schedule.seen(facts, at(moment), at(before)) if schedule else first_seen(facts, at(moment))
    assert schedule
    return schedule


@given(records, looks)
def test_missed_runs_are_counted_to_the_last_turn(record: Record, moments: list[int]) -> None:
    schedule = followed(record, moments, {})
    missed = missed_runs(schedule, record.known(moments[-1]), at(moments[-1]))
    assert missed.count == record.lost(record.first, moments[-1])
    assert (missed.since, missed.until) == (begun(record.first, moments[-1]), at(moments[-1]))


@given(records, looks, st.data())
def test_after_somebody_changed_it_counting_begins_anew(record: Record, moments: list[int], data: Any) -> None:
    touched = data.draw(st.sampled_from(moments))
    schedule = followed(record, moments, {moment: touched + 1 for moment in moments if moment >= touched})
    missed = missed_runs(schedule, record.known(moments[-1]), at(moments[-1]))
    since = record.next_due(touched)
    assert missed.since == begun(since, moments[-1])
    assert missed.count == record.lost(since, moments[-1])


@given(records, looks, st.data())
def test_runs_of_unknown_jobs_are_never_guessed(record: Record, moments: list[int], data: Any) -> None:
    schedule = followed(record, moments, dict.fromkeys(moments, 1) if data.draw(st.booleans()) else {})
    known = record.known(moments[-1])
    forgotten = data.draw(st.sets(st.sampled_from(sorted(known)))) if known else set()
    kept = {number: when for number, when in known.items() if number not in forgotten}
    missed = missed_runs(schedule, kept, at(moments[-1]))
    assert schedule.baseline
    assert missed.since in (None, schedule.baseline.since)
    if missed.count is not None:
        assert missed.count == record.lost(int((schedule.baseline.since - START).total_seconds()), moments[-1])


@given(records, looks, st.data())
def test_jobs_but_the_recent_one_may_be_forgotten_once_the_first_that_counts_was_known(
    record: Record, moments: list[int], data: Any
) -> None:
    touched = data.draw(st.sampled_from(moments))
    schedule = followed(record, moments, {moment: touched + 1 for moment in moments if moment >= touched})
    known, last = record.known(moments[-1]), moments[-1]
    if name := schedule.first_counted_job:
        schedule = schedule.counted_from(known[int(name.rpartition("-")[2])])
        assert schedule.first_counted_job is None
    kept = {number: when for number, when in known.items() if number == len(known)}
    assert missed_runs(schedule, kept, at(last)).count == record.lost(record.next_due(touched), last)


@given(records, looks, st.integers(1, 500))
def test_of_a_schedule_that_was_disabled_the_last_count_stays(record: Record, moments: list[int], later: int) -> None:
    schedule = followed(record, moments, {})
    last = moments[-1]
    disabled = schedule.seen(record.facts(last + later, state="disabled"), at(last + later), at(last))
    missed = missed_runs(disabled, record.known(last), at(last + later + 1000))
    assert (missed.count, missed.until) == (record.lost(record.first, last), at(last))
    gone = schedule.gone(at(last + later), at(last))
    assert missed_runs(gone, record.known(last), at(last + later)).count == missed.count
    enabled = disabled.seen(
        replace(record.facts(last), previous_state="disabled", state_transition_time=at(last + later + 1)),
        at(last + later + 2),
        at(last + later),
    )
    assert enabled.baseline
    assert enabled.baseline.since == at(record.next_due(last))


HOURLY = Record(interval=3600, window=None, first=0, lengths=[1])
FACTS = HOURLY.facts(0)


def counted(facts: ScheduleFacts, made: dict[int, datetime] | None = None) -> MissedRuns:
    return missed_runs(first_seen(facts, at(10_000)), made or {}, at(10_000))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(FACTS, next_run_time=at(5000)), "isn't a whole number"),
        (replace(FACTS, next_run_time=at(3600), recent_job="Nightly:job-3"), "more jobs than fell due"),
        (replace(FACTS, recent_job="Nightly"), "no number"),
        (replace(FACTS, recurrence=Recurrence(interval="P1M")), "recurrence interval isn't"),
        (replace(FACTS, recurrence=Recurrence(interval="PT1H", start_window="P1Y"), next_run_time=at(7200)), "window"),
        (replace(FACTS, next_run_time=at(7200), recent_job="Nightly:job-1"), "creation time"),
        (replace(FACTS, state="disabled", next_run_time=None), "when it was first seen"),
    ],
)
def test_uncountable_runs_have_reasons(facts: ScheduleFacts, words: str) -> None:
    missed = counted(facts)
    assert (missed.count, missed.since) == (None, None)
    assert words in missed.basis


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        (replace(FACTS, recent_job="Nightly:job-1"), 0),
        (FACTS, 0),
        (replace(FACTS, state="completed", previous_state="active"), 1),
        (replace(FACTS, state="completed", previous_state="terminating"), None),
        (replace(FACTS, state="disabled", previous_state="active"), None),
    ],
)
def test_a_schedule_that_does_not_recur_has_one_run(facts: ScheduleFacts, count: int | None) -> None:
    assert counted(replace(facts, recurrence=Recurrence(), next_run_time=None)).count == count


@pytest.mark.parametrize("interval", [None, "PT1H"])
def test_a_schedule_that_is_yet_to_begin_has_missed_nothing(interval: str | None) -> None:
    rules = Recurrence(do_not_run_until=at(90_000), interval=interval)
    missed = counted(replace(FACTS, recurrence=rules, next_run_time=at(90_000)))
    assert missed == MissedRuns(0, None, at(10_000), "It hasn't begun: its first run is yet to fall due.")


def test_a_start_window_lasts_through_its_last_instant() -> None:
    facts = replace(FACTS, next_run_time=at(3600), recurrence=Recurrence(interval="PT1H", start_window="PT1M"))
    schedule = first_seen(facts, at(10))
    assert [missed_runs(schedule, {}, at(seconds)).count for seconds in (59, 60, 61)] == [0, 0, 1]


@pytest.mark.parametrize("window", ["P10675199DT2H48M5.4775807S", "P3000000D"])
def test_a_start_window_without_a_bound_lasts_until_the_next_run(window: str) -> None:
    facts = replace(FACTS, next_run_time=at(7200), recurrence=Recurrence(interval="PT1H", start_window=window))
    schedule = first_seen(facts, at(10))
    assert missed_runs(schedule, {}, at(7000)).count == 1
