from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.packing.columns import Column, DictionaryColumn, IntegerColumn
from shared.domain.packing.compression import deflated, inflated
from shared.domain.packing.id_column import Ids

numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), max_size=30)
pairs = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30)
exits = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=30)
names = st.lists(st.text("abcXYZ019-_", min_size=1, max_size=64), max_size=30)
columns = st.one_of(
    numbers.map(lambda rows: IntegerColumn("q", rows)),
    pairs.map(lambda rows: DictionaryColumn((tuple,), rows)),
    exits.map(lambda rows: DictionaryColumn((int, type(None)), rows)),
    names.map(Ids),
)


def unpacked(column: Column) -> Any:
    packed, count = column.pack(), len(column)
    if isinstance(column, IntegerColumn):
        return IntegerColumn.unpack("q", packed, count)
    if isinstance(column, DictionaryColumn):
        return DictionaryColumn.unpack(column._kinds, packed, count)
    return Ids.unpack(packed, count)[0]


@given(columns)
def test_every_column_survives_packing(column: Column) -> None:
    again = unpacked(column)
    assert list(again) == list(column)
    assert again.pack() == column.pack()


@pytest.mark.parametrize(
    ("code", "edge"), [("B", [0, 255]), ("i", [-(2**31), 2**31 - 1]), ("q", [-(2**63), 2**63 - 1])]
)
def test_the_first_and_last_number_of_each_width_survive(code: str, edge: list[int]) -> None:
    assert list(IntegerColumn.unpack(code, IntegerColumn(code, edge).pack(), 2)) == edge


@given(columns, st.data())
def test_a_column_is_changed_like_a_list(column: Column, choice: st.DataObject) -> None:
    rows = list(column)
    packed = column.pack()
    if rows:
        places = sorted(choice.draw(st.sets(st.integers(0, len(rows) - 1))))
        new = [choice.draw(st.sampled_from(rows)) for _ in places]
        before = list(rows)
        for at, row in zip(places, new, strict=True):
            rows[at] = row
        assert column.update(places, new) == (rows != before)
        assert rows != before or column.pack() == packed
        at = choice.draw(st.integers(0, len(rows)))
        column.insert(at, new)
        rows[at:at] = new
        order = choice.draw(st.permutations(range(len(rows))))
        column.reorder(lambda values: [values[at] for at in order])
        rows = [rows[at] for at in order]
    assert list(column) == rows
    assert list(column.rows(range(len(rows)))) == rows
    assert list(unpacked(column)) == rows
    cut = choice.draw(st.integers(0, len(rows)))
    assert [*column.part(0, cut), *column.part(cut, len(rows))] == rows
    assert list(unpacked(column.part(0, cut))) == rows[:cut]


@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=600))
def test_more_words_than_a_byte_counts_survive(rows: list[int]) -> None:
    column = DictionaryColumn((int,), rows)
    assert list(DictionaryColumn.unpack((int,), column.pack(), len(rows))) == rows


@given(st.binary(max_size=300) | st.binary(max_size=9).map(lambda some: some * 50))
def test_packed_bytes_come_back_and_hardly_grow(raw: bytes) -> None:
    assert inflated(deflated(raw)) == raw
    assert len(deflated(raw)) <= len(raw) + 1


def test_a_word_of_another_kind_is_refused_before_it_is_stored() -> None:
    column = DictionaryColumn((int,), [1])
    for wrong in ("1", 1.5, None, ("a", "b"), 1 << 63, -(1 << 63) - 1):
        with pytest.raises(TypeError):
            column.insert(0, [wrong])
    with pytest.raises(TypeError):
        DictionaryColumn((tuple,), [("a", 1)])
    assert list(column) == [1]


def test_rows_that_are_alike_take_no_bytes() -> None:
    assert len(IntegerColumn("q", [1_790_000_000_000] * 4096).pack()) == 10
    assert len(DictionaryColumn((int,), [1] * 4096).pack()) < 20
