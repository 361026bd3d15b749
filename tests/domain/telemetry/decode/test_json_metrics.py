import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.records.bounds import MAX_LISTED, MAX_MISTAKES, MAX_PARTS
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.precision import Precision
from tests.domain.telemetry.support.reading import read

INFERRED = Precision()


def test_a_batch_and_single_objects_are_read_line_by_line() -> None:
    found = read(
        b'{"metrics":[{"fields":{"f":1,"g":1.5},"name":"m","tags":{"t":"\\u003ca\\u003e"},"timestamp":1713204195120}]}\n'
        b'{"fields":{"s":"x","b":true},"name":"n","tags":{},"timestamp":1713204195}\r\n',
        INFERRED,
    )
    assert found.mistakes == []
    assert found.metrics == [
        Metric("m", {"t": "<a>"}, {"f": 1, "g": 1.5}, 1713204195120000000),
        Metric("n", {}, {"s": "x", "b": True}, 1713204195000000000),
    ]


def test_times_of_one_batch_may_be_of_several_precisions() -> None:
    times = [1713204195, 1713204195000, 1713204195000000, 1713204195000000000, 1713204195]
    for batch in (times, times[::-1]):
        records = b",".join(b'{"name":"m","fields":{},"timestamp":%d}' % time for time in batch)
        found = read(b'{"metrics":[%b]}' % records, INFERRED)
        assert [one.time for one in found.metrics] == [1713204195000000000] * 5
        assert found.mistakes == []


def test_quirks_of_agents_are_taken() -> None:
    found = read(
        b'{"metrics":[{"name":"m","fields":{"big":18446744073709551615,"none":null,"nan":"nan","yes":"true"},'
        b'"tags":{"cpu":"\\"0_1\\"","n":1},"timestamp":"2024-04-15T18:03:15.12Z","more":{}}]}',
        INFERRED,
    )
    assert found.metrics == [
        Metric("m", {"cpu": '"0_1"', "n": "1"}, {"big": 2**64 - 1, "nan": "nan", "yes": "true"}, 1713204195120000000)
    ]


def test_a_bad_record_of_a_batch_is_rejected_with_its_place_and_the_others_are_read() -> None:
    line = (
        b'{"metrics":[{"name":"a","fields":{"f":1}}, {"name":"b"}, '
        b'{"name":"c","fields":{"f":[1]}},{"name":"d","fields":{}}]}'
    )
    found = read(line)
    assert [one.name for one in found.metrics] == ["a", "d"]
    assert [(one.position, one.reason) for one in found.mistakes] == [
        (line.index(b'{"name":"b"'), "a record isn't of a name, tags, fields and a time stamp"),
        (line.index(b'{"name":"c"'), "a record isn't of a name, tags, fields and a time stamp"),
    ]


@pytest.mark.parametrize(
    ("line", "position", "reason"),
    [
        (b'{"metrics":[{"name":"a",]}', 24, "this is no valid JSON"),
        (b'{"metrics":', 11, "this is no valid JSON"),
        (b'{"name":"\xff","fields":{}}', 0, "this is no valid JSON"),
        (b"{a} f=1 5", 1, "this is no valid JSON"),
        (b"{}", 0, "a record isn't of a name, tags, fields and a time stamp"),
        (b'{"metrics":1}', 0, "a record isn't of a name, tags, fields and a time stamp"),
        (b'{"name":"a","fields":{},"timestamp":"soon"}', 0, "the time is written in no known way"),
        (b'{"name":"a","fields":{},"timestamp":1e300}', 0, "the time is out of range"),
        (b"{" * 100_000, 1, "this is no valid JSON"),
        (b'{"name":"a","fields":{"f":' + b"[" * 100_000, 0, "this is no valid JSON"),
    ],
)
def test_a_line_that_is_no_telemetry_is_rejected_and_the_next_one_is_read(
    line: bytes, position: int, reason: str
) -> None:
    found = read(line + b"\nm f=1 5\n")
    assert [(one.start, one.end, one.reason) for one in found.mistakes] == [(0, len(line), reason)]
    assert abs(found.mistakes[0].position - position) <= 1
    assert [one.name for one in found.metrics] == ["m"]


def test_numbers_of_absurd_length_are_no_crash() -> None:
    found = read(b'{"name":"m","fields":{"f":%b,"g":1e999}}\n{"name":"n","fields":{}}' % (b"9" * 5000))
    assert [one.name for one in found.metrics][-1] == "n"
    assert len(found.metrics) + len(found.mistakes) == 2


GOOD = b'{"name":"m","fields":{"f":1}}'


def test_good_records_among_very_many_bad_ones_are_read() -> None:
    found = read(b'{"metrics":[%b,%b%b]}\n' % (GOOD, b"1," * 5_000, GOOD))
    assert [one.name for one in found.metrics] == ["m", "m"]
    assert len(found.mistakes) == MAX_LISTED + 1
    assert found.mistakes[-1].reason == "4,000 more records of the line make no sense"
    assert found.bad == 1


def test_a_batch_of_garbage_is_given_up_after_very_many_records() -> None:
    found = read(b'{"metrics":[%b,%b%b]}\n' % (GOOD, b"1," * (MAX_MISTAKES + 5), GOOD))
    assert [one.name for one in found.metrics] == ["m"]
    assert found.mistakes[-1].reason == f"more than {MAX_MISTAKES:,} records of the line make no sense"


def test_a_line_of_more_parts_than_records_could_be_is_not_looked_through() -> None:
    found = read(b'{"metrics":[%b%b]}\n' % (b"1," * (MAX_PARTS + 5), GOOD))
    assert [one.reason for one in found.mistakes] == [
        f"something in it is wrong, and it has more than {MAX_PARTS:,} parts"
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
RECORDS = st.dictionaries(st.sampled_from(["name", "fields", "tags", "timestamp", "x"]), VALUES, max_size=5)


@given(st.one_of(RECORDS, st.lists(RECORDS, max_size=3)), st.integers(0, 80), st.binary(max_size=2))
def test_any_json_and_any_damage_to_it_is_read_or_rejected(records: object, at: int, damage: bytes) -> None:
    text = json.dumps({"metrics": records} if isinstance(records, list) else records).encode()
    text = text[:at] + damage + text[at + len(damage) :]
    found = read(b"{" + text[1:])
    assert found.consumed == len(text)
    assert all(0 <= one.start + one.position <= len(text) + 1 for one in found.mistakes)
