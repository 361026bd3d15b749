"""What the proof of first reads takes for a request that repeats what was read and stored."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from local.prove._watched_lists import Ask, Left, Watch

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)


def target(condition: str = "", skip: str = "") -> str:
    link = f"&$skiptoken={skip}" if skip else ""
    return f"/jobs/Crowd/tasks?api-version=1&$filter={quote(condition)}{link}"


LEFT = Left.of(None, [["b", "d", None, 1], ["m", None, f"http://127.0.0.1:1{target("id ge 'm'", 'm5')}", 1]])


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
def test_only_what_is_left_may_be_asked_for(asked: str, *, is_wrong: bool) -> None:
    watch = Watch()
    watch.begin_life(LEFT)
    watch.ask(Ask.of(asked), asked)
    assert bool(watch.wrong) == is_wrong


def test_a_link_that_followed_on_what_was_left_may_be_asked_for_once() -> None:
    watch = Watch()
    watch.begin_life(LEFT)
    first, after = target("id ge 'm'", "m5"), target("id ge 'm'", "m9")
    watch.ask(Ask.of(first), first)
    watch.answered(Ask.of(first), watch.life, 1000, after)
    watch.ask(Ask.of(after), after)
    assert (watch.wrong, watch.served) == ([], 1000)
    watch.ask(Ask.of(after), after)
    assert len(watch.wrong) == 1


def test_a_list_of_changes_means_that_nothing_is_left_of_the_list_of_all() -> None:
    watch = Watch()
    watch.begin_life(Left.of(T0, [[None, None, None, 0]]))
    changes = target("stateTransitionTime ge DateTime'2026-11-21T07:00:00.000Z'")
    watch.ask(Ask.of(changes), changes)
    assert watch.wrong == []
    watch.ask(Ask.of(target()), target())
    assert len(watch.wrong) == 1
