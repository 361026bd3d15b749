"""A damaged or truncated unit is lost alone, with no more of its surroundings than necessary."""

import gzip
import secrets
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric

from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.decode.frames import SearchBudget, next_unit
from shared.domain.telemetry.records.bounds import STEP, WINDOW
from tests.domain.support.bounded import quick
from tests.domain.telemetry.decode.otlp_messages import as_protobuf, message, number
from tests.domain.telemetry.decode.units import FORMS, frame, line, numbers, several
from tests.domain.telemetry.support.reading import all_steps, contents
from tests.profiles import NIGHTLY, share_of

NO_MEMBER = b"\x1f\x8b\x08\xff"
VERY_MANY = range(4093, 4099) if NIGHTLY else range(4095, 4098)


def test_a_frame_whose_content_is_damaged_costs_itself_only() -> None:
    frames = [frame(line(number) * 50) for number in range(3)]
    bad = bytearray(frames[1])
    bad[-6] ^= 0x55
    metrics, rejected = contents(all_steps(frames[0] + bytes(bad) + frames[2]))
    begin = len(frames[0])
    assert set(numbers(metrics)) == {0.0, 2.0}
    assert [(one.start, one.end, one.compressed, one.reason) for one in rejected] == [
        (begin, begin + len(bad), True, "the frame is damaged, or asks for too much memory")
    ]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": frame, "zstd without a checksum": zstandard.compress, "gzip": gzip.compress,
}  # fmt: skip


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_unit_that_was_cut_short_costs_itself_only(pack: Callable[[bytes], bytes]) -> None:
    units = [pack(several(number)) for number in range(6)]
    others = {float(number) for number in range(120)} - {float(number) for number in range(20, 40)}
    for cut in share_of(range(1, len(units[1])), 3):
        stored = b"".join([units[0], units[1][:cut], *units[2:]])
        metrics, rejected = contents(all_steps(stored))
        assert others <= set(numbers(metrics)), cut
        assert rejected[0].start == len(units[0])
        assert contents(all_steps(stored, range(cut, len(stored), 50))) == (metrics, rejected)


STRAYS: dict[str, tuple[bytes, int]] = {
    "bytes": (bytes(range(256)) * 20, 0),
    "a line without its end": (line(7)[:-1], 1),
    "half a line": (b"m f=", 0),
    "one byte": (b"\xff", 0),
    "an open quote": (b'm f="a quote that is open\n', 0),
    "marks of nothing": (b"\x28\xb5\x2f\xfd\n" * 3 + b"\x28\xb5\x2f\xfd\x08 no frame\n", 0),
}
"""Uncompressed bytes, and the number of their records."""


@pytest.mark.parametrize(
    ("form", "stray"),
    [(form, stray) for form in (*PACKERS, "zlib") for stray in STRAYS if (form, stray) != ("zlib", "marks of nothing")],
)
def test_behind_text_that_was_cut_short_units_are_read(form: str, stray: str) -> None:
    pack = PACKERS.get(form, zlib.compress)
    units, (text, records) = [pack(several(number)) for number in range(4)], STRAYS[stray]
    stored = b"".join([units[0], text, *units[1:]])
    metrics, rejected = contents(all_steps(stored))
    assert len(metrics) == 80 + records
    assert bool(rejected) == (not records)
    assert contents(all_steps(stored, range(1, len(stored), 30))) == (metrics, rejected)


def test_marks_of_units_in_lines_of_text_cost_these_lines_only() -> None:
    marks = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd\x24\x00\x00\x00\x08")
    bad = [b"m,t=%b%b f=1\n" % (mark * many, rest) for mark in marks for many in (1, 9) for rest in (b"", frame(b""))]
    stored = b"".join(line(number) + one for number, one in enumerate(bad)) + line(len(bad))
    metrics, rejected = contents(all_steps(stored))
    assert numbers(metrics) == [float(number) for number in range(len(bad) + 1)]
    assert len(rejected) >= len(bad)
    assert contents(all_steps(stored, range(1, len(stored), 17))) == (metrics, rejected)


@pytest.mark.parametrize("form", ["zstd", "gzip"])
def test_behind_a_damaged_unit_the_next_one_is_looked_for(form: str) -> None:
    units = [FORMS[form](line(number) * 20) for number in range(3)]
    bad = units[1][:8] + b"\xff" * (len(units[1]) - 8)
    stored = units[0] + bad + units[2]
    metrics, rejected = contents(all_steps(stored))
    assert set(numbers(metrics)) == {0.0, 2.0}
    assert [(one.start, one.end) for one in rejected] == [(len(units[0]), len(units[0] + bad))]


@pytest.mark.parametrize("level", [1, 6, 9])
def test_behind_a_damaged_stream_of_zlib_the_next_whole_one_is_looked_for(level: int) -> None:
    units = [zlib.compress(several(number), level) for number in range(3)]
    others = {float(number) for number in range(60)} - {float(number) for number in range(20, 40)}
    for at in share_of(range(2, len(units[1])), 4):
        for bad in (units[1][:at], units[1][:at] + b"\x55\xaa" + units[1][at + 2 :]):
            stored = b"".join([units[0], bad, *units[2:]])
            metrics, rejected = contents(all_steps(stored))
            assert others <= set(numbers(metrics))
            assert [(one.start, one.end) for one in rejected] == [(len(units[0]), len(units[0] + bad))]
            assert contents(all_steps(stored, range(1, len(stored), 40))) == (metrics, rejected)


@pytest.mark.parametrize("pack", [frame, gzip.compress])
def test_behind_a_damaged_stream_of_zlib_units_of_other_forms_are_found(pack: Callable[[bytes], bytes]) -> None:
    stored = zlib.compress(several(0))[:-5] + pack(several(1)) + pack(several(2))
    assert numbers(contents(all_steps(stored))[0]) == [float(number) for number in range(20, 60)]


@given(st.integers(0, 60), st.integers(0, 60), st.lists(st.floats(0, 1), max_size=6))
def test_very_many_false_marks_change_nothing_behind_them(lines: int, marks: int, places: list[float]) -> None:
    bad = b"".join(b"m,t=\x1f\x8b\x08\xff%d f=1\n" % number for number in range(lines))
    stored = line(0) + bad + b"\x28\xb5\x2f\xfd\x08" * marks + b"half" + frame(line(1)) + line(2) + frame(line(3))
    cuts = sorted(int(place * len(stored)) for place in places)
    whole = contents(all_steps(stored))
    assert numbers(whole[0]) == [0.0, 1.0, 2.0, 3.0]
    assert contents(all_steps(stored, cuts)) == whole


def test_damage_that_nothing_follows_waits_for_the_next_unit() -> None:
    good, bad = zlib.compress(line(2)), b"\x78\x9c" + b"damaged"
    assert [step.end for step in Decoder().steps(good + bad * 300, 0)] == [len(good)]
    assert [step.end for step in all_steps(good + bad * 300)] == [len(good), len(good + bad * 300)]
    assert numbers(contents(all_steps(good + bad * 300 + good, (len(good + bad),)))[0]) == [2.0, 2.0]


def test_damage_of_more_than_a_window_is_put_aside_up_to_the_next_unit() -> None:
    good, bad = zlib.compress(line(2)), b"\x78\x9c" + b"damaged" + bytes(2 * WINDOW)
    stored, at, steps = good + bad + good, 0, list[Step]()
    while at < len(stored):
        steps += Decoder().steps(stored[at : at + WINDOW], at, in_damage=bool(steps) and steps[-1].in_damage)
        at = steps[-1].end
    assert numbers(contents(steps)[0]) == [2.0, 2.0]
    assert [one.start for one in contents(steps)[1]] == [len(good)]
    assert "no unit that can be read was found in" in contents(steps)[1][0].reason
    assert sum(step.lost for step in steps) == len(bad)
    assert sum(step.bad for step in steps) == 1


def test_a_blob_that_is_damaged_all_over_is_read_to_its_end() -> None:
    stored = b"\x1f\x8b\x08\xff" * 10_000
    steps = list(all_steps(stored))
    assert not any(step.in_damage for step in steps)
    assert steps[-1].end == len(stored)


@pytest.mark.parametrize("level", [1, 6, 9])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda unit: b"\0" + unit,
        lambda unit: bytes((unit[0] ^ 0x80,)) + unit[1:],
        lambda unit: unit[:1] + bytes((unit[1] ^ 1,)) + unit[2:],
        lambda unit: unit[:1],
        lambda unit: unit[2:],
    ],
    ids=["a stray byte", "its first byte", "its second byte", "all but its first byte", "its first two bytes"],
)
def test_the_next_stream_is_found_behind_an_unrecognized_one_of_zlib(
    level: int, spoil: Callable[[bytes], bytes]
) -> None:
    units = [zlib.compress(several(number), level) for number in range(6)]
    stored = b"".join([units[0], spoil(units[1]), *units[2:]])
    metrics, rejected = contents(all_steps(stored))
    assert {float(number) for number in (*range(20), *range(40, 120))} <= set(numbers(metrics))
    assert (len(metrics) == 120) == (stored[len(units[0]) + 1 :].startswith(units[1]))
    assert rejected
    assert contents(all_steps(stored, range(1, len(stored), 7))) == (metrics, rejected)


@pytest.mark.parametrize("many", VERY_MANY)
def test_units_behind_very_many_damaged_ones_are_read_at_any_cut(many: int) -> None:
    stored = NO_MEMBER * many + frame(line(1)) + b"half" + NO_MEMBER + frame(line(2)) * 100
    whole = contents(all_steps(stored))
    assert numbers(whole[0]) == [1.0] + [2.0] * 100
    assert contents(all_steps(stored, (2000,))) == whole


@pytest.mark.parametrize("many", VERY_MANY)
def test_units_behind_very_many_lines_with_marks_are_read(many: int) -> None:
    stored = (b"m,t=" + NO_MEMBER + b"\n") * many + b"half" + frame(line(1)) * 100
    for cuts in ((), (20_000, 30_000)):
        steps = list(all_steps(stored, cuts))
        assert numbers(contents(steps)[0]) == [1.0] * 100
        assert sum(step.bad for step in steps) == many + 1


def test_a_line_of_very_many_marks_costs_itself_only() -> None:
    stored = line(1) + b"m,t=" + NO_MEMBER * 9000 + b" f=1\n" + line(2) + b"half" + frame(line(3))
    whole = contents(all_steps(stored))
    assert numbers(whole[0]) == [1.0, 2.0, 3.0]
    assert contents(all_steps(stored, (10_000, 20_000, 40_000))) == whole


def test_a_record_of_many_lines_and_marks_is_skipped_and_data_behind_it_is_read() -> None:
    record = b'm f="open\n' + (b"t" + NO_MEMBER * 9 + b"\n") * 1000
    for behind in (b"", b"half" + frame(line(1)) * 3 + line(2)):
        steps = list(all_steps(record + behind))
        assert steps[-1].end == len(record + behind)
    for tail in (b"", line(3) * 30_000):
        stored = line(0) + record + b"half" + frame(line(1)) * 2000 + line(2) + tail
        found = numbers(contents(all_steps(stored))[0])
        assert found[0] == 0.0
        assert found.count(1.0) + 2 * len(record) / len(frame(line(1))) > 2000
        assert found.count(2.0) == 1


def test_something_is_taken_of_a_window_of_one_record_with_very_many_marks() -> None:
    part = b',a%d="' + b"y" * 60_000 + b'\n"'
    before, behind = [b"".join(part % number for number in range(*some)) for some in ((60,), (60, 90))]
    stored = b"m b=1" + before + b',q="' + b"y" * 2000 + NO_MEMBER * 9000 + b'\n"' + behind
    for begin in (stored, b"m b=1" + part % 1 + stored[5:]):
        assert len(begin) > WINDOW
        assert next(Decoder().steps(begin[:WINDOW], 0)).end


@pytest.mark.parametrize("text", [b"x^", b"x\xda\x80", b"x^2 "])
def test_letters_that_look_like_a_stream_of_zlib_take_no_long_time(text: bytes) -> None:
    stored = b"m,t=" + text * (STEP * 4 // len(text))
    with quick(3, text):
        assert not next_unit(stored, 0, len(stored), SearchBudget(), is_last=True).is_known


@pytest.mark.parametrize(
    "before", [b"", b"cpu,", b"cpu,t=\0\0", line(9), frame(line(9))[:9], b"\x78\x9cdamaged"], ids=repr
)
@pytest.mark.parametrize("size", [1, 60, 2560])
def test_messages_are_read_the_same_wherever_bytes_were_cut(before: bytes, size: int) -> None:
    metric = Metric(name="m" * size, gauge=Gauge(data_points=[number(1, 1_713_204_200_000_000_000)]))
    messages = [as_protobuf(message(metric))] * 3
    stored = before + b"".join(messages)
    whole = contents(all_steps(stored))
    for cut in range(1, min(len(stored), len(before) + 80)):
        assert contents(all_steps(stored, (cut,))) == whole, cut


def test_behind_damaged_units_that_exhaust_the_budget_the_next_ones_are_found() -> None:
    good = [gzip.compress(several(number)) for number in range(3)]
    bad = bytearray(gzip.compress(secrets.token_bytes(3 << 20)))
    bad[-6] ^= 1
    stored = bytes(bad) * 10 + b"".join(good)
    for cuts in ((), range(1 << 20, len(stored), 7 << 20)):
        assert numbers(contents(all_steps(stored, cuts))[0]) == [float(number) for number in range(60)]


@pytest.mark.parametrize("zeros", [*range(40), 5000, WINDOW])
def test_a_message_behind_any_number_of_zeros_is_found(zeros: int) -> None:
    unit = as_protobuf(message(Metric(name="m", gauge=Gauge(data_points=[number(1, 1713204200)]))))
    with quick(0.1, zeros):
        found = next_unit(bytes(zeros) + unit, 0, zeros + len(unit), SearchBudget(), is_last=True)
    assert (found.start, found.is_known) == (zeros, True)
