"""Marks of event rows: no event that a filter matches is ever in a skipped row."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.event_marks import MinuteRange, marks_of, marks_wanted, may_have

NAMES = st.none() | st.sampled_from(["a", "A", "b", "B", "a:1", ""])
EVENTS = st.builds(
    BatchEvent, at=st.just(datetime(2026, 8, 6, tzinfo=UTC)), kind=st.sampled_from(["TaskFailEvent", "taskfailevent"]),
    job=NAMES, task=NAMES, pool=NAMES, node=NAMES, properties=st.just({}), identity=st.just(bytes(12)),
)  # fmt: skip
SOME = st.frozensets(st.sampled_from(["a", "A", "b", "B", "a:1", ""]), max_size=2)
FILTERS = st.builds(
    EventFilter, jobs=SOME, tasks=SOME, pools=SOME, nodes=SOME, kinds=SOME | st.just(frozenset({"x", "TASKFAILEVENT"}))
)


@given(events=st.lists(EVENTS, max_size=4), wanted=FILTERS)
def test_a_row_with_an_event_that_is_wanted_is_never_passed_over(events: list[BatchEvent], wanted: EventFilter) -> None:
    passes = may_have(marks_of(events), marks_wanted(wanted))
    assert passes or not any(wanted.wants(event) for event in events)
    alone = [replace(EventFilter(), **{part: getattr(wanted, part)}) for part in ("jobs", "pools", "nodes", "kinds")]
    if events and not passes:
        assert any(not any(one.wants(event) for event in events) for one in alone)


def test_a_job_is_not_mistaken_for_a_pool_and_tasks_have_no_marks() -> None:
    event = BatchEvent(datetime(2026, 8, 6, tzinfo=UTC), "TaskStartEvent", "one", "two", "three", None, {}, bytes(12))
    marks = marks_of([event, event])
    assert len(marks) == 3 * 4
    assert may_have(
        marks,
        marks_wanted(
            EventFilter(jobs=frozenset({"ONE"}), pools=frozenset({"three"}), kinds=frozenset({"taskstartevent"}))
        ),
    )
    assert not may_have(marks, marks_wanted(EventFilter(jobs=frozenset({"three"}))))
    assert not may_have(marks, marks_wanted(EventFilter(jobs=frozenset({"one"}), nodes=frozenset({"two"}))))
    assert marks_wanted(EventFilter(tasks=frozenset({"two"}))) == ()


@given(rows=st.lists(st.tuples(st.integers(1, 60), st.booleans()), max_size=40))
def test_stretches_hold_all_rows_and_are_of_a_size(rows: list[tuple[int, bool]]) -> None:
    minutes = [MinuteRange(1000 - at, 1000 - at, count, wanted) for at, (count, wanted) in enumerate(rows)]
    found = list[MinuteRange]()
    for minute in minutes:
        joined = found[-1].joined(minute) if found else None
        found = [*found[:-1], joined] if joined else [*found, minute]
    assert sum(one.rows for one in found) == sum(count for count, _ in rows)
    assert all(later.first == earlier.last + 1 for later, earlier in pairwise(found))
    assert all(one.rows <= (50 if one.is_wanted else 1000) or one.first == one.last for one in found)
    assert all(one.first == one.last or one.is_wanted == rows[1000 - one.first][1] for one in found)
