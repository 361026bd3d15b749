"""Time waited by cause, over time: each step has what passes within it counted, though passes die or a pool goes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, HistoryRetention
from shared.domain.history.points import Series
from shared.domain.history.samples import Sample
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.jobs.waited_history import (
    GRAINS,
    Waited,
    WaitedSample,
    decode_waited,
    waited_in,
    waited_rows,
    waited_samples,
)
from shared.domain.jobs.waiting_causes import ByCause, WaitingCauses
from shared.domain.tasks.tasks import TaskCounts

T0 = datetime(2026, 11, 29, 6, tzinfo=UTC)
MINUTE, QUARTER, HOUR = timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1)
RETENTION = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))
CAUSES = ("slotsBusy", "poolEmpty", "unknown")


def waiting(tasks: int) -> dict[str, Job]:
    facts = JobFacts("job", T0, "active", T0, pool_id="Pool")
    job = Job(facts, JobSnapshot("g", T0, "delta", TaskCounts(active=tasks), T0, T0, T0))
    return {"job": job} if tasks else {}


class Stored:
    """The row of causes and the history's columns, as passes write them: the history first."""

    def __init__(self) -> None:
        self.causes = WaitingCauses()
        self.columns: dict[str, dict[str, str]] = {}

    def run(self, at: datetime, tasks: int, cause: str, *, dies: bool = False, known: bool = True) -> ByCause:
        """Makes a pass, which with `dies` ends before it writes the row; returns what it added."""
        before = self.causes
        after = before.after(waiting(tasks), {"job": cause} if tasks else {}, at).within({"pool": 1} if known else {})
        for row, columns in waited_rows(before, after, RETENTION).get("pool", {}).items():
            self.columns.setdefault(row, {}).update(columns)
        if dies:
            return {}
        self.causes = WaitingCauses.of_plain(after.plain(), after.plain_steps())
        return after.added.get("pool", {})

    def shown(self, series: Series) -> list[ByCause | None]:
        grain = GRAINS[0 if series.grain is MINUTES else 1]
        first, last = series.with_step_before().rows(max(series.step, QUARTER)) or ("", "")
        texts = [
            self.columns[row][grain.column(slot)]
            for row in sorted(self.columns) if first <= row <= last
            for slot in range(grain.slots) if grain.column(slot) in self.columns[row]
        ]  # fmt: skip
        samples: dict[int, WaitedSample] = {sample.at: sample for sample in map(decode_waited, texts)}
        samples |= {sample.at: sample for sample in waited_samples(self.causes, "pool")}
        return list(waited_in(series, [samples[at] for at in sorted(samples)]))


Pass = tuple[int, int, str, bool]
PASSES = st.lists(
    st.tuples(st.integers(300, 1200), st.integers(1, 9), st.sampled_from(CAUSES), st.booleans()), max_size=25
)


@given(passes=PASSES, step=st.sampled_from([MINUTE, 5 * MINUTE, QUARTER, HOUR]))
@settings(max_examples=150, deadline=None)
def test_each_step_has_what_the_passes_within_it_added_though_some_die(passes: list[Pass], step: timedelta) -> None:
    stored, now, added = Stored(), T0 + MINUTE, list[tuple[datetime, ByCause]]()
    stored.run(T0, 1, "slotsBusy")
    for seconds, tasks, cause, dies in passes:
        now += timedelta(seconds=seconds)
        added.append((now, stored.run(now, tasks, cause, dies=dies)))
    series = Series(T0, now + step, step, now + step)
    for end, shown in zip(series.ends(), stored.shown(series), strict=True):
        within = [more for at, more in added if end - step / timedelta(milliseconds=1) < to_milliseconds(at) <= end]
        sums = {cause: sum(more.get(cause, 0) for more in within) for cause in CAUSES}
        expected = {cause: number for cause, number in sums.items() if number}
        assert shown == expected or (shown is None and not expected)


@given(passes=PASSES)
@settings(max_examples=50, deadline=None)
def test_all_steps_together_are_the_total(passes: list[Pass]) -> None:
    stored, now = Stored(), T0
    stored.run(T0, 1, "slotsBusy")
    for seconds, tasks, cause, dies in passes:
        now += timedelta(seconds=seconds)
        stored.run(now, tasks, cause, dies=dies)
    stored.run(now + HOUR, 2, "unknown")
    for step in (MINUTE, QUARTER):
        until = now + 2 * HOUR
        shown = [more for more in stored.shown(Series(T0, until, step, until)) if more]
        sums = {cause: sum(more.get(cause, 0) for more in shown) for cause in CAUSES}
        assert {cause: number for cause, number in sums.items() if number} == stored.causes.waited["pool"]


def test_a_pool_that_is_deleted_and_made_anew_counts_from_nothing_again() -> None:
    stored = Stored()
    for minute, known in ((0, True), (5, True), (10, True), (15, False), (20, True), (25, True), (30, True)):
        stored.run(T0 + minute * MINUTE, 2 if known else 0, "slotsBusy", known=known)
    series = Series(T0, T0 + 30 * MINUTE, 5 * MINUTE, T0 + HOUR)
    each = {"slotsBusy": 600_000}
    assert stored.shown(series) == [each, each, {}, {}, each, each]


def test_a_step_whose_begin_is_not_known_is_unknown_and_so_is_one_without_a_pass() -> None:
    total = Waited(to_milliseconds(T0 - HOUR), {"slotsBusy": 90_000})
    samples: list[WaitedSample] = [
        Sample(to_milliseconds(T0 + minute * MINUTE), 0, exact=True, numbers=total) for minute in (3, 8, 40)
    ]
    series = Series(T0, T0 + 45 * MINUTE, 5 * MINUTE, T0 + HOUR)
    assert list(waited_in(series, samples)) == [None, {}, {}, {}, None, None, None, {}, {}]


def test_a_late_pass_of_another_host_takes_no_quarter_from_later_samples() -> None:
    stored, late = Stored(), Stored()
    for minute in (0, 5, 10, 15):
        stored.run(T0 + minute * MINUTE, 1, "slotsBusy")
        late.causes = stored.causes if minute == 5 else late.causes
    late.columns = stored.columns
    stored.run(T0 + 20 * MINUTE, 1, "slotsBusy")
    before = {row: dict(columns) for row, columns in stored.columns.items()}
    late.run(T0 + 40 * MINUTE, 1, "slotsBusy", dies=True)  # its row was written by another since
    assert stored.columns == before


def test_rows_of_versions_without_a_history_count_on() -> None:
    old = WaitingCauses.of_plain([to_milliseconds(T0), {}, {"pool": {"slotsBusy": 5}}])
    assert (old.since, old.previous, old.added) == ({}, None, {})
    assert [sample.numbers for sample in waited_samples(old, "pool")] == [Waited(0, {"slotsBusy": 5})]
    assert waited_samples(replace(old, at=None), "pool") == waited_samples(old, "") == []


def test_a_step_in_which_an_earlier_version_stored_totals_is_unknown() -> None:
    stored = Stored()
    for minute in (0, 5, 10, 15):
        stored.run(T0 + minute * MINUTE, 1, "slotsBusy")
    stored.causes = WaitingCauses.of_plain(stored.causes.after(waiting(1), {}, T0 + 20 * MINUTE).plain())
    for minute in (25, 30):
        stored.run(T0 + minute * MINUTE, 1, "slotsBusy")
    each = {"slotsBusy": 300_000}
    series = Series(T0 + 5 * MINUTE, T0 + 30 * MINUTE, 5 * MINUTE, T0 + HOUR)
    assert stored.shown(series) == [{}, {}, None, each, each]


def test_columns_of_time_waited_stand_beside_those_of_the_pool() -> None:
    assert QUARTERS.column(3) == "q03"
    assert GRAINS[1].column(3) == "w03"
