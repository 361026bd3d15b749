from itertools import count, islice

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.next_links import NextLinks


@given(st.integers(0, 60), st.integers(1, 60))
def test_a_circle_is_found_within_a_few_rounds_and_never_before_it_closes(before: int, length: int) -> None:
    links = NextLinks()
    way = (number if number < before else before + (number - before) % length for number in count())
    found = next(place for place, link in enumerate(way) if links.is_repeat(link))
    assert before + length <= found <= 2 * before + 3 * length


def test_links_that_all_differ_are_no_circle_and_neither_is_the_end_of_a_list() -> None:
    links = NextLinks()
    assert not links.is_repeat(None)
    assert not any(links.is_repeat(link) for link in islice(count(), 10_000))
    assert not links.is_repeat(None)
