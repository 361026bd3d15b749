"""Patterns of announcements: `*` stands for any text and `#` for a number, and no text takes long."""

from datetime import UTC, datetime

import msgspec
import pytest

from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_settings import AutoScale
from shared.domain.retirements.announcements import announcements
from shared.domain.retirements.conditions import condition_fault
from tests.domain.pools.test_vm_sizes import KNOWN

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def fits(pattern: str, text: str) -> bool | None:
    """Returns whether a pattern of formulas concerns a pool with this one."""
    one = msgspec.structs.replace(announcements()[0], when={"formula": [pattern]})
    return one.concerns(PoolFacts("p", NOW, "active", NOW, "standard_d2s_v5", auto_scale=AutoScale(text)))


@pytest.mark.parametrize(("pattern", "text", "expected"), [
    ("a*", "a", True), ("a*", "ba", False), ("*", "", True), ("*a", "aba", True), ("*a", "ab", False),
    ("a*b*c", "a b c", True), ("a*b*c", "a c b", False), ("*a*a*", "a", False), ("*a*a*", "aa", True),
    ("**a**", "xax", True), ("a#", "a12", True), ("a#", "a", False), ("a#", "a12x", False), ("a#*", "a12x", True),
    ("a##", "a7", True), ("a##x", "a12", False),
    ("*#*5", "15", True), ("*#*5", "5", False), ("*a#b*a#c", "a1b a1c", True), ("*a#b*a#c", "a1c a1b", False),
    ("A.*", "a.b", True), ("A.*", "ab", False), ("a*b", "a\n\nB", True),
])  # fmt: skip
def test_a_pattern_fits_whole_texts_in_any_letters(pattern: str, text: str, *, expected: bool) -> None:
    assert fits(pattern, text) is expected


def test_many_stars_take_no_longer_for_a_formula_that_nearly_fits() -> None:
    assert fits("*$a*$b*$a*$b*$c*$d*", "$a$b" * 2000) is False  # minutes, if all places of all parts were tried
    assert fits("*$a*$b*$a*$b*$c*$d*", "$a$b" * 2000 + "$c$d") is True


def test_several_numbers_in_a_row_are_one_and_take_no_longer() -> None:
    assert fits("#" * 20 + "x", "1" * 100) is False  # years, if all lengths of all numbers were tried


def test_every_size_of_the_tables_is_a_pattern_of_itself_and_with_a_star_behind_any_part() -> None:
    sizes = [size.lower() for size, _ in KNOWN]
    for size in sizes:
        patterns = [size, *(f"{size[:length]}*" for length in range(len(size)))]
        assert condition_fault({"vmSize": patterns}) == "", size
