import gzip
import secrets
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.decode import texts
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.decode.frames import form_at
from shared.domain.telemetry.decode.line_grammar import read_record
from shared.domain.telemetry.records.bounds import (
    MAX_DECODED,
    MAX_LINE,
    MAX_LISTED,
    MAX_MISTAKES,
    MAX_STORED,
    MIB,
    STEP,
)
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.precision import Precision
from tests.domain.telemetry.decode.units import FORMS, frame, line, numbers
from tests.domain.telemetry.support.reading import all_steps, contents

SKIPPABLE = b"\x5a\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"


@pytest.mark.parametrize("form", FORMS)
def test_units_of_each_form_are_read_one_after_the_other(form: str) -> None:
    stored = b"".join(FORMS[form](line(number)) for number in range(3))
    metrics, rejected = contents(all_steps(stored))
    assert (numbers(metrics), rejected) == ([0.0, 1.0, 2.0], [])


def test_forms_may_follow_each_other_in_one_blob() -> None:
    parts = [FORMS[form](line(number)) for number, form in enumerate(["text", *FORMS, *reversed(FORMS)])]
    metrics, rejected = contents(all_steps(b"".join(parts)))
    assert (numbers(metrics), rejected) == ([float(number) for number in range(len(parts))], [])


def test_a_frame_that_holds_nothing_is_passed_over() -> None:
    metrics, rejected = contents(all_steps(frame(line(1)) + SKIPPABLE + frame(b"") + frame(line(2))))
    assert (numbers(metrics), rejected) == ([1.0, 2.0], [])


@pytest.mark.parametrize("level", range(-1, 10))
def test_zlib_is_distinguished_from_text_that_begins_with_its_letters(level: int) -> None:
    assert form_at(zlib.compress(line(1), level), 0) is Form.ZLIB
    assert form_at(b"x^2 f=1\n", 0) is Form.TEXT
    assert form_at("xڀ f=1\n".encode(), 0) is Form.TEXT
    assert [form_at(start, 0) for start in (b"x", b"x^2", b"\x28\xb5", b"\x1f")] == [None] * 4


def test_a_step_ends_with_each_unit_and_the_rest_waits() -> None:
    frames = [frame(line(number)) for number in range(2)]
    stored = frames[0] + frames[1]
    assert [(step.start, step.end) for step in Decoder().steps(stored[:-1], 100)] == [(100, 100 + len(frames[0]))]
    assert list(Decoder().steps(frames[0][:-1], 0)) == []
    assert [(step.start, step.end) for step in Decoder().steps(line(1) + line(2)[:-1], 7)] == [(7, 7 + len(line(1)))]


def test_a_bomb_is_refused_at_a_limit_and_the_next_unit_is_read() -> None:
    ratio = zstandard.compress(bytes(4 * MIB))
    large = zstandard.compress(bytes(MAX_DECODED + 1) + bytes(range(256)) * 200)
    member = gzip.compress(bytes(3 * MAX_DECODED))
    small = gzip.compress(bytes(MIB))
    for bomb, behind in (
        (ratio, frame(line(1))), (large, frame(line(1))), (member, gzip.compress(line(1))),
        (small, gzip.compress(line(1))),
    ):  # fmt: skip
        metrics, rejected = contents(all_steps(bomb + behind))
        assert numbers(metrics) == [1.0]
        assert [one.reason.partition(" the ")[0] for one in rejected] == ["the text is larger than"]


def test_a_frame_that_asks_for_too_large_a_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    stored = writer.compress(line(1)) + writer.flush()
    metrics, rejected = contents(all_steps(stored + frame(line(2))))
    assert numbers(metrics) == [2.0]
    assert [one.end for one in rejected] == [len(stored)]


def test_a_frame_of_very_many_blocks_is_refused() -> None:
    header = frame(b"")[:6]
    stored = header + b"\x00\x00\x00" * 5000
    *_, last = all_steps(stored)
    assert last.rejected[0].reason.startswith("the frame has more than 4,096 blocks")


def test_a_line_beyond_all_bounds_refuses_the_blob() -> None:
    stored = line(1) + b"m f=" + b"1" * MAX_LINE + b"\n" + line(2)
    for ends in (len(stored), len(line(1)) + MAX_LINE + 2):
        steps = list(all_steps(stored[:ends]))
        assert numbers([metric for step in steps for metric in step.metrics]) == [1.0]
        assert steps[-1].in_line
        assert steps[-1].end == len(line(1))


def test_a_long_line_is_read_though_it_takes_more_than_one_look() -> None:
    long = b'{"name":"m","fields":{"f":1,"text":"%b"},"timestamp":1713204200}\n' % (b"a" * 3 * STEP)
    metrics, rejected = contents(all_steps(long + line(2)))
    assert (numbers(metrics), rejected) == ([1.0, 2.0], [])


def test_a_unit_of_garbage_is_given_up_after_very_many_lines() -> None:
    some = (b"x\n" * 1_000, b"x\n" * (2 * MAX_MISTAKES))
    for garbage, bad in zip(some, (1_000, MAX_MISTAKES + 1), strict=True):
        filler = b"#" + secrets.token_hex(2_000).encode() + b"\n"  # so that it is no compression bomb
        steps = list(all_steps(frame(filler + line(1) + garbage + line(2)) + line(3)))
        metrics, rejected = contents(steps)
        assert numbers(metrics) == ([1.0, 2.0, 3.0] if bad == 1_000 else [1.0, 3.0])
        assert (sum(step.bad for step in steps), len(rejected)) == (bad, 1_000 + (bad > MAX_MISTAKES))
        assert not any(step.in_line for step in steps)


def test_a_unit_of_much_text_comes_in_parts_and_the_last_ends_it() -> None:
    many = [line(number) for number in range(3 * STEP // len(line(1)))]
    unit = frame(b"".join(many))
    steps = list(all_steps(line(0) + unit + line(1)))
    begin, end = len(line(0)), len(line(0)) + len(unit)
    parts = steps[1:-1]
    assert len(parts) > 2
    assert {(step.start, step.end, step.part_of) for step in parts[:-1]} == {(begin, begin, end)}
    assert (parts[-1].start, parts[-1].end, parts[-1].part_of) == (begin, end, None)
    assert numbers([metric for step in parts for metric in step.metrics]) == [float(at) for at in range(len(many))]


def test_of_very_many_bad_lines_some_are_listed_and_all_counted() -> None:
    (step,) = all_steps(b"a\n" * 5_000 + line(1))
    assert (numbers(list(step.metrics)), len(step.rejected), step.bad) == ([1.0], MAX_LISTED, 5_000)


def test_half_a_unit_at_the_end_of_a_blob_is_rejected_and_the_last_line_needs_no_end() -> None:
    whole = frame(line(1))
    metrics, rejected = contents(all_steps(whole + frame(line(2))[:-1]))
    assert (numbers(metrics), [(one.start, one.reason) for one in rejected]) == (
        [1.0], [(len(whole), "the blob ends within a unit")],
    )  # fmt: skip
    metrics, rejected = contents(all_steps(line(1) + line(2)[:-1]))
    assert (numbers(metrics), rejected) == ([1.0, 2.0], [])


LINES = st.sampled_from([
    line(1), b"m f=2i 1713204200\r\n", b'm f=3,s="a\nb \\" c" 1713204200\n', b"bad\n", b"# comment\n", b"\n",
    b'm f=4,s="open 1713204200\n', "größe f=5 1\n".encode(), b"m f=6u 1713204200000000000\n", b"\xff f=1\n",
    b'{"metrics":[{"name":"m","fields":{"f":7},"tags":{},"timestamp":1713204200}]}\n', b'{"metrics":[1]}\n', b"{\n",
    b"x^2 f=8 1\n",
])  # fmt: skip
TEXTS = st.lists(LINES, max_size=6).map(b"".join)


def _damaged(stored: bytes, place: int) -> bytes:
    """Returns the frame with one content byte changed, so that its checksum is wrong."""
    at = len(stored) - 1 - place % 4
    return stored[:at] + bytes((stored[at] ^ 1,)) + stored[at + 1 :]


def _cut(stored: bytes, share: float) -> bytes:
    return stored[: int(share * len(stored))]


UNITS = st.one_of(
    TEXTS,
    TEXTS.map(frame),
    TEXTS.map(gzip.compress),
    TEXTS.map(zlib.compress),
    st.builds(_damaged, TEXTS.map(frame), st.integers(0, 3)),
    st.builds(
        _cut, st.one_of(TEXTS, *(TEXTS.map(pack) for pack in (frame, gzip.compress, zlib.compress))), st.floats(0, 1)
    ),
    st.sampled_from([b"\x28\xb5\x2f\xfd", b"a\x1f\x8b\x08\x00\n", b"\xff\n"]),
    st.just(SKIPPABLE),
)


def _comparable(steps: Iterator[Step]) -> tuple[object, object, int]:
    """Returns the decoded content, and the end of the last step."""
    known = list(steps)
    return *contents(known), known[-1].end if known else 0


@given(st.lists(UNITS, max_size=5).map(b"".join), st.lists(st.floats(0, 1), max_size=6))
def test_bytes_may_be_cut_anywhere(stored: bytes, places: list[float]) -> None:
    cuts = sorted(int(place * len(stored)) for place in places)
    assert _comparable(all_steps(stored, cuts)) == _comparable(all_steps(stored))


@given(st.lists(UNITS, min_size=1, max_size=3).map(b"".join))
def test_a_blob_may_grow_byte_by_byte(stored: bytes) -> None:
    stored = stored[:300]
    assert _comparable(all_steps(stored, range(1, len(stored)))) == _comparable(all_steps(stored))


MAGICS = st.sampled_from([b"", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\x00", b"x\x9c", b"{", b"\x50\x2a\x4d\x18", b"m f="])


@given(st.lists(st.tuples(MAGICS, st.binary(max_size=60)), max_size=6))
def test_no_bytes_are_a_crash_or_are_passed_over_unseen(parts: list[tuple[bytes, bytes]]) -> None:
    stored = b"".join(magic + rest for magic, rest in parts)
    at = 0
    for step in all_steps(stored):
        assert step.start == at
        assert step.end > at or step.in_line
        at = step.end
    assert at == len(stored) or step.in_line


@given(st.sampled_from(["zstd", "gzip", "zlib"]), st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_damage_anywhere_in_a_unit_never_reaches_those_before_it(form: str, place: int, damage: bytes) -> None:
    units = [FORMS[form](b"".join(map(line, range(begin, begin + 20)))) for begin in (0, 20, 40)]
    at = place % len(units[1])
    bad = units[1][:at] + damage + units[1][at + len(damage) :]
    metrics, _ = contents(all_steps(units[0] + bad + units[2]))
    assert numbers(metrics)[:20] == [float(number) for number in range(20)]


def test_a_stored_unit_beyond_all_bounds_is_refused() -> None:
    block = (1 << 17 << 3).to_bytes(3, "little") + bytes(1 << 17)
    stored = b"\x28\xb5\x2f\xfd\0\0" + block * (MAX_STORED // len(block) + 1)
    _, rejected = contents(all_steps(stored))
    assert [one.reason for one in rejected] == [f"the unit has more than {MAX_STORED:,} bytes"]
    assert numbers(contents(all_steps(stored + frame(line(2))))[0]) == [2.0]


def test_the_zstd_library_is_not_loaded_before_the_first_frame() -> None:
    program = "import sys; import shared.domain.telemetry.sessions.intake; print('zstandard' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cuts", [(), (1, 2, 3, 4, 20)])
def test_a_mark_of_utf8_at_the_begin_of_a_blob_is_passed_over(form: str, cuts: tuple[int, ...]) -> None:
    stored = b"\xef\xbb\xbf" + FORMS[form](line(1) + line(2))
    steps = list(all_steps(stored, cuts))
    metrics, rejected = contents(steps)
    assert (numbers(metrics), rejected, steps[-1].end) == ([1, 2], [], len(stored))
    assert [numbers(part) for part in contents(all_steps(b"\xef\xbb\xbf" + BATCH))[:1]] == [[1]]
    assert not list(Decoder().steps(stored[:2], 0))


BATCH = b'{"metrics":[{"name":"m","tags":{},"fields":{"f":1},"timestamp":1713204200}]}\n'


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"  \n", b"\n\n \r\n"], ids=repr)
@pytest.mark.parametrize("pack", [bytes, frame, gzip.compress], ids=["text", "zstd", "gzip"])
def test_blank_lines_before_anything_change_nothing(pack: Callable[[bytes], bytes], blank: bytes) -> None:
    for good in (BATCH, line(1)):
        metrics, rejected = contents(all_steps(pack(blank + good + blank + good)))
        assert (numbers(metrics), rejected) == ([1.0, 1.0], [])
    metrics, rejected = contents(all_steps(line(1) + blank + pack(blank + line(1))))
    assert (numbers(metrics), rejected) == ([1.0, 1.0], [])
    stored = line(1) + blank + b"a bad line\n" + line(2)
    metrics, rejected = contents(all_steps(stored))
    assert numbers(metrics) == [1.0, 2.0]
    assert [stored[one.start : one.end] for one in rejected] == [b"a bad line"]
    assert contents(all_steps(stored, range(1, len(stored)))) == (metrics, rejected)


def test_very_many_blank_lines_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Counter[str]()

    def counted(text: bytes, at: int, precision: Precision) -> tuple[Metric | None, int]:
        looks["record"] += 1
        return read_record(text, at, precision)

    monkeypatch.setattr(texts, "read_record", counted)
    (step,) = all_steps(frame(b"\n" * 60_000 + b"x\n"))
    assert (len(step.rejected), step.bad, looks["record"]) == (1, 1, 1)


def test_a_mark_of_utf8_within_a_blob_is_text() -> None:
    _, rejected = contents(all_steps(line(1) + b"\xef\xbb\xbf{}\n"))
    assert [one.start for one in rejected] == [len(line(1))]
