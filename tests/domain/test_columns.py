import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain import columns

numbers = st.lists(st.integers(-(2**61), 2**61) | st.integers(-300, 300), max_size=30)


@given(numbers)
def test_numbers_survive_packing_whatever_their_width(given_numbers: list[int]) -> None:
    assert list(columns.unpack_numbers(columns.pack_numbers(array("q", given_numbers)))) == given_numbers


@pytest.mark.parametrize("bits", [7, 15, 31, 63])
def test_the_first_and_last_number_of_each_width_survive(bits: int) -> None:
    edge = array("q", [-(1 << bits), (1 << bits) - 1])
    assert columns.unpack_numbers(columns.pack_numbers(edge)) == edge


@given(numbers)
def test_steps_survive_packing(given_numbers: list[int]) -> None:
    assert list(columns.unpack_steps(columns.pack_steps(array("q", given_numbers)))) == given_numbers


@given(st.lists(st.tuples(st.integers(-(2**61), 2**61), st.integers(-(2**61), 2**61)), max_size=30))
def test_differences_survive_packing_and_unknown_stays_unknown(rows: list[tuple[int, int]]) -> None:
    wanted, base = array("q", [row[0] for row in rows]), array("q", [row[1] for row in rows])
    assert columns.unpack_differences(columns.pack_differences(wanted, base), base) == wanted


@given(st.lists(st.binary(max_size=20), max_size=6))
def test_joined_columns_come_apart_again(many: list[bytes]) -> None:
    assert list(columns.parts(columns.join(many))) == many


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=4), st.data())
def test_joined_columns_that_were_cut_short_are_refused(many: list[bytes], choice: st.DataObject) -> None:
    body = columns.join(many)
    cut = choice.draw(st.integers(1, len(many[-1]) + 3))
    with pytest.raises(struct.error):
        list(columns.parts(body[:-cut]))


def test_a_few_small_numbers_take_a_byte_each() -> None:
    assert len(columns.pack_numbers(array("q", [1, -2, 3]))) == 4
