"""The requests that the proof of first reads counts as repeats of a stored part."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from local.prove.first_read.stored_reads import StoredState
from local.prove.first_read.watched_lists import PageRequest, Remainder, RequestWatch

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)


def target(condition: str = "", skip: str = "") -> str:
    link = f"&$skiptoken={skip}" if skip else ""
    return f"/jobs/Crowd/tasks?api-version=1&$filter={quote(condition)}{link}"


LEFT = Remainder.of(None, [["b", "d", None, 1], ["m", None, f"http://127.0.0.1:1{target("id ge 'm'", 'm5')}", 1]])


@pytest.mark.parametrize(
    ("asked", "is_wrong"),
    [
        (target("id ge 'b' and id lt 'd'"), False),
        (target("id ge 'b' and id lt 'c'"), False),
        (target("id ge 'm'", "m5"), False),
        (target("stateTransitionTime ge DateTime'2026-11-21T07:00:00Z'"), False),
        (target(), True),
        (target("id ge 'a' and id lt 'd'"), True),
        (target("id ge 'm'"), True),
        (target("id ge 'm'", "m4"), True),
    ],
)
def test_only_unread_ranges_may_be_requested(asked: str, *, is_wrong: bool) -> None:
    watch = RequestWatch()
    watch.begin_life(LEFT)
    watch.ask(PageRequest.of(asked), asked)
    assert bool(watch.wrong) == is_wrong


def test_the_next_link_of_an_unread_range_may_be_requested_once() -> None:
    watch = RequestWatch()
    watch.begin_life(LEFT)
    first, after = target("id ge 'm'", "m5"), target("id ge 'm'", "m9")
    watch.ask(PageRequest.of(first), first)
    watch.answered(PageRequest.of(first), watch.life, 1000, after)
    watch.ask(PageRequest.of(after), after)
    assert (watch.wrong, watch.served) == ([], 1000)
    watch.ask(PageRequest.of(after), after)
    assert len(watch.wrong) == 1


def test_a_list_of_changes_means_that_nothing_is_left_of_the_list_of_all() -> None:
    watch = RequestWatch()
    watch.begin_life(Remainder.of(T0, [[None, None, None, 0]]))
    changes = target("stateTransitionTime ge DateTime'2026-11-21T07:00:00.000Z'")
    watch.ask(PageRequest.of(changes), changes)
    assert watch.wrong == []
    watch.ask(PageRequest.of(target()), target())
    assert len(watch.wrong) == 1


def test_without_a_stored_part_no_link_of_an_earlier_life_may_be_requested() -> None:
    watch = RequestWatch()
    watch.begin_life(None)
    first, after = target("id ge 'm'"), target("id ge 'm'", "m9")
    watch.ask(PageRequest.of(first), first)
    watch.answered(PageRequest.of(first), watch.life, 1000, after)
    watch.begin_life(None)
    watch.ask(PageRequest.of(first), first)
    assert watch.wrong == []
    watch.ask(PageRequest.of(after), after)
    assert len(watch.wrong) == 1


def ranges(*parts: tuple[str | None, str | None, bool], since: datetime | None = None) -> Remainder:
    """Returns ranges of low, high and whether they are begun."""
    link = f"http://127.0.0.1:1{target('', 'x')}"
    return Remainder.of(since, [[low, high, link if begun else None, 1] for low, high, begun in parts])


BEFORE = StoredState(False, ranges(("b", "f", False), ("m", None, True)), 80_000)


@pytest.mark.parametrize(
    ("left", "tasks", "said"),
    [
        (ranges(("b", "d", False), ("d", "f", True), ("m", None, True)), 90_000, None),
        (ranges(("m", None, True)), 80_000, None),
        (ranges((None, None, False), since=T0), 0, None),
        (ranges(("m", None, False)), 90_000, "of 1 ranges left some weren't left before"),
        (ranges(("a", "f", False)), 90_000, "of 1 ranges left some weren't left before"),
        (ranges(("m", None, True)), 79_000, "79,000 tasks are stored, 80,000 were"),
        (None, 0, "the plan with 80,000 tasks is gone"),
    ],
)
def test_progress_lost_by_a_kill_is_reported(left: Remainder | None, tasks: int, said: str | None) -> None:
    assert StoredState(False, left, tasks).lost(BEFORE) == said


def test_nothing_is_lost_where_nothing_was_stored_or_the_read_is_over() -> None:
    assert StoredState(False, None).lost(StoredState(False, None)) is None
    assert StoredState(True, None).lost(BEFORE) is None


def test_a_list_of_changes_isnt_followed_by_a_list_of_all() -> None:
    assert BEFORE.lost(StoredState(False, ranges((None, None, False), since=T0), 0))
