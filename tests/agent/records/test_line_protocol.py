"""Records become lines that the app's own decoder reads back: the two know nothing of each other's code."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.records.line_protocol import MAX_TEXT, line_of, text_of
from agent.records.record import Record, Value
from shared.domain.telemetry.decode.line_grammar import read_record
from shared.domain.telemetry.records.precision import Precision

NOW = 1_795_000_000_000_000_000
NAMES = some.text(some.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
VALUES = (
    some.booleans() | some.integers(-(2**63), 2**64 - 1) | some.floats(allow_nan=False, allow_infinity=False) | NAMES
)


def read_back(line: str) -> tuple[str, dict[str, str], dict[str, Value], int | None]:
    metric, end = read_record(line.encode(), 0, Precision("ns"))
    assert metric is not None
    assert end == len(line.encode())
    return metric.name, metric.tags, metric.fields, metric.time


def test_a_record_is_its_name_sorted_tags_fields_and_the_time_of_now() -> None:
    record = Record("diskio", {"reads": 12, "busy": 0.5, "ok": True}, {"name": "sda", "by": "uuid"})
    assert line_of(record, NOW) == f"diskio,by=uuid,name=sda reads=12i,busy=0.5,ok=true {NOW}\n"


def test_a_time_of_its_own_stays() -> None:
    assert line_of(Record("boot", {"at": 1}, time=5), NOW) == "boot at=1i 5\n"


def test_spaces_commas_equals_signs_and_quotes_are_escaped() -> None:
    record = Record("a b,c", {"x=y z": 'say "no" \\ yes'}, {"path,of=it": "/mnt/a b=c,d"})
    assert read_back(line_of(record, NOW)) == (
        "a b,c",
        {"path,of=it": "/mnt/a b=c,d"},
        {"x=y z": 'say "no" \\ yes'},
        NOW,
    )


def test_line_breaks_never_split_a_record() -> None:
    line = line_of(Record("a", {"text": "one\ntwo\r\0three"}, {"tag": "x\ny"}), NOW)
    assert line == f'a,tag=x\\ y text="one two  three" {NOW}\n'


def test_control_characters_in_names_and_tags_cost_no_record() -> None:
    bell = Record("a\7b", {"x\ty": 1}, {"path\x7f": "/mnt/a\tb\x1f"})
    assert read_back(line_of(bell, NOW)) == ("a b", {"path ": "/mnt/a b "}, {"x y": 1}, NOW)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1 << 64, -(1 << 63) - 1])
def test_a_value_that_the_protocol_lacks_costs_only_its_field(value: Value) -> None:
    assert line_of(Record("a", {"bad": value, "good": 1}), NOW) == f"a good=1i {NOW}\n"
    assert line_of(Record("a", {"bad": value}), NOW) == ""


def test_counters_of_64_bits_are_unsigned() -> None:
    assert line_of(Record("a", {"x": 2**63}), NOW) == f"a x=9223372036854775808u {NOW}\n"


def test_empty_tags_and_names_are_left_out() -> None:
    assert line_of(Record("a", {"": 1, "x": 2}, {"": "y", "z": "", "w": "\\"}), NOW) == f"a x=2i {NOW}\n"


def test_long_texts_are_cut() -> None:
    _, _, fields, _ = read_back(line_of(Record("a", {"text": "x" * 10_000}), NOW))
    assert fields == {"text": "x" * MAX_TEXT}


def test_several_records_keep_their_order() -> None:
    assert text_of([Record("b", {"x": 1}), Record("a", {"x": 2})], 7) == "b x=1i 7\na x=2i 7\n"


@given(NAMES, some.dictionaries(NAMES, NAMES, max_size=3), some.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_a_line_is_read_back_as_it_was(name: str, tags: dict[str, str], fields: dict[str, Value]) -> None:
    written = Record(name, fields, tags)
    line = line_of(written, NOW)
    kept = {key.rstrip("\\"): value for key, value in fields.items() if key.rstrip("\\")}
    if not kept or not name.rstrip("\\"):
        return
    found_name, found_tags, found_fields, time = read_back(line)
    assert (found_name, time) == (name.rstrip("\\"), NOW)
    assert found_tags == {
        key.rstrip("\\"): value.rstrip("\\") for key, value in tags.items() if key.rstrip("\\") and value.rstrip("\\")
    }
    assert found_fields.keys() == kept.keys()
