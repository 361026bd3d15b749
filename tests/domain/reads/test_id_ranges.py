"""However a list is divided, and in any order that the service uses for ids, each task lies in some range."""

import random
import uuid
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.reads.id_ranges import IdRange, split_points
from tests.profiles import NIGHTLY

PAGE = 1000
CHANCE = random.Random(1)  # noqa: S311 - of ids
type Order = Callable[[str], Any]


def ordinal(name: str) -> str:
    return name.lower()


def linguistic(name: str) -> tuple[str, str]:
    """Orders hyphens and underscores last."""
    return name.lower().replace("-", "").replace("_", ""), name.lower()


def by_digits_last(name: str) -> list[tuple[bool, str]]:
    """Orders letters before digits, as some collations do."""
    return [(letter.isdigit(), letter) for letter in name.lower()]


def backwards(name: str) -> list[int]:
    return [-ord(letter) for letter in name.lower()] + [1]


ORDERS: Sequence[Order] = (ordinal, linguistic, by_digits_last, backwards)
odd_names = st.text(alphabet="abzAZ019-_':.+ ßé\u200b%/", min_size=1, max_size=12)
numbers = st.integers(0, 99_999)
families = st.one_of(
    st.lists(numbers.map(lambda number: f"task-{number:06}"), max_size=80),
    st.lists(numbers.map(lambda number: f"Task{number}"), max_size=80),
    st.lists(numbers.map(str), max_size=80),
    st.lists(st.uuids().map(str), max_size=80),
    st.lists(st.uuids().map(lambda name: f"run_{name.hex.upper()}"), max_size=80),
    st.lists(odd_names, max_size=40),
)
many_ids = st.lists(families, min_size=1, max_size=3).map(lambda some: [name for names in some for name in names])
orders = st.sampled_from(ORDERS)
depths = st.integers(0, 5)


def holds(ids: IdRange, name: str, order: Order) -> bool:
    """Evaluates the filter `id ge low and id lt high` as the service does."""
    key = order(name)
    return (ids.low is None or key >= order(ids.low)) and (ids.high is None or key < order(ids.high))


@given(many_ids, st.tuples(orders, orders), st.integers(0, 2_000_000), st.integers(1, 60), depths)
def test_every_id_lies_in_at_least_one_of_the_ranges(
    names: list[str], how: tuple[Order, Order], expected: int, page: int, depth: int
) -> None:
    """Lists may even use another order than filters."""
    listed, compared = how
    names = sorted(names, key=listed)
    whole = IdRange(depth=depth)
    parts = whole.divided(names[:page], expected)
    for name in names:
        assert any(holds(part, name, compared) for part in parts)


@given(many_ids, orders, orders, st.integers(0, 2_000_000), st.integers(1, 60))
def test_ranges_that_are_divided_again_still_hold_every_id(
    names: list[str], listed: Order, compared: Order, expected: int, page: int
) -> None:
    names = sorted(names, key=listed)
    for part in IdRange().divided(names[:page], expected):
        inside = [name for name in names if holds(part, name, compared)]
        finer = part.divided(inside[:page], expected)
        assert all(any(holds(one, name, compared) for one in finer) for name in inside)


@given(many_ids, orders, st.integers(0, 2_000_000), st.integers(2, 60))
def test_ranges_touch_and_go_upwards(names: list[str], order: Order, expected: int, page: int) -> None:
    parts = IdRange().divided(sorted(names, key=order)[:page], expected)
    points = [part.low for part in parts[1:]]
    assert points == [part.high for part in parts[:-1]] == sorted({point for point in points if point})
    assert (parts[0].low, parts[-1].high) == (None, None)


@given(many_ids, st.randoms(use_true_random=False), st.integers(0, 2_000_000))
def test_an_unsorted_list_is_not_divided(names: list[str], chance: random.Random, expected: int) -> None:
    assume(len({name.lower() for name in names}) > 1)
    chance.shuffle(names)
    assume([name.lower() for name in names] != sorted({name.lower() for name in names}))
    assert split_points(names, expected) == []


@pytest.mark.parametrize("total", [20_000, 200_000 if NIGHTLY else 64_000])
@pytest.mark.parametrize(
    "named",
    [
        lambda number: f"task-{number:07}",
        lambda number: f"Task_{number + 1:06}",
        lambda _: str(uuid.UUID(int=CHANCE.getrandbits(128))),
        lambda _: f"render-{CHANCE.getrandbits(64):016x}",
    ],
    ids=["padded", "padded to a width that is outgrown", "GUIDs", "names that end in hexadecimal digits"],
)
def test_a_typical_list_is_divided_evenly(named: Callable[[int], str], total: int) -> None:
    names = sorted({named(number).lower() for number in range(total)})
    parts = IdRange().divided(names[:PAGE], total)
    bounds = [0, *(bisect_left(names, part.low or "") for part in parts[1:]), total]
    sizes = [after - before for before, after in pairwise(bounds)]
    filled = [size for size in sizes if size]
    assert len(filled) >= min(16, total // 4000)
    assert max(filled) <= 3 * sum(filled) / len(filled)


@pytest.mark.parametrize("total", [70_000, 123_456, 400_000, 1_000_000])
def test_the_ranges_of_a_dense_list_end_with_a_page(total: int) -> None:
    points = split_points([f"task-{number:06}" for number in range(1000)], total)
    assert len(points) > 10
    assert all(int(point.removeprefix("task-")) % 1000 == 0 for point in points)


def test_numbers_without_leading_zeros_are_divided_by_their_first_digits() -> None:
    names = sorted(f"task-{number}" for number in range(1, 200_001))
    parts = IdRange().divided(names[:PAGE], 200_000)
    assert len(parts) > 10


def test_a_quote_in_a_bound_is_kept_as_it_is() -> None:
    names = [f"it's-{number:06}" for number in range(1000)]
    assert all("'" in point for point in split_points(names, 100_000))


def test_a_short_list_is_not_worth_dividing() -> None:
    assert IdRange().divided([f"task-{number:06}" for number in range(1000)], 7000) == (IdRange(),)


def test_parts_begin_at_their_starts_however_many_empty_pages_came_before() -> None:
    first_page = [f"task-{number:06}" for number in range(PAGE)]
    parts = IdRange(low="task-000000", cursor="the page after an empty one").divided(first_page, 900_000)
    assert len(parts) > 1
    assert {part.cursor for part in parts} == {None}
