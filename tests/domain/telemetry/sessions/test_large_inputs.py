"""Inputs of the maximum size, built to be slow or to stay in memory: time and memory are bounded."""

import gzip
import json
import secrets
import struct
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product

import pytest
import zstandard

from shared.domain.blobs.blobs import Entry
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.bounds import MAX_LINE, MAX_STRING, STEP, WINDOW
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.sessions.blob_state import ShapeCache, State
from shared.domain.telemetry.sessions.session import Writer
from shared.domain.telemetry.sessions.sessions import MAX_SESSIONS, Sessions
from shared.services.blobs.blob_intake import Piece
from shared.services.telemetry.telemetry_steps import Context, Steps, read_steps
from shared.stores.blobs.checkpoints import CheckpointKey
from tests.domain.support.bounded import MIB, megabytes, quick
from tests.domain.telemetry.support.nodes import WINDOW as TIMES
from tests.profiles import NIGHTLY, nightly, share_of

_NOW = datetime(2026, 11, 21, tzinfo=UTC)
_SIZE, _SECONDS = (MIB // 8, 4) if NIGHTLY else (MIB // 16, 2)  # an eighth of a megabyte takes some tenths
_STAMP = b"1713204200"
TOKENS = [
    b"a", b" ", b"\n", b"\r\n", b",", b"=", b'"', b"\\", b"{", b"[", b"}", b"1", b"-", b".", b"t", b"#", b"\xff", b"\0",
    b"a\n", b"a,", b"a=", b"a ", b"m a=1\n", b"m,a=b ", b'm a="', b'm a="\n', b'm a="\\', b'",b="', b'" ,b="\n', b"\\,",
    b'\\"', b'{"', b'{"a":', b'{"metrics":[', b"{}\n", b"x^2 ", b"x\x9c", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd",
    b"\x50\x2a\x4d\x18\0\0\0\0", b"m a=1i,", b"m a=1e5,b=T\n", b"m a=9999999999999999999i\n",
]  # fmt: skip
STARTS = [b"m ", b"m,", b'm a="', b"m a=", b'{"metrics":[', b'{"name":"m","fields":{"', b"x\x9c"]
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda text: text,
    "zstd": zstandard.compress,
    "gzip": gzip.compress,
}


def _piece(body: bytes, *, is_last: bool = False) -> Piece:
    entry = Entry("n1", _NOW, _NOW)
    return Piece("lane", CheckpointKey("telemetry", "p", "o"), entry, 0, body, False, is_last, len(body) >= WINDOW)


def _read(body: bytes, *, is_last: bool = False, packed: bytes = b"", shapes: ShapeCache | None = None) -> Steps:
    return read_steps(_piece(body, is_last=is_last), Context(Identity(), TIMES, packed, shapes or ShapeCache()))


@pytest.mark.parametrize("form", FORMS)
def test_a_token_again_and_again_takes_no_longer_than_other_bytes(form: str) -> None:
    for token in TOKENS if form == "text" else share_of(TOKENS, 3):
        with quick(_SECONDS, token):
            _read(FORMS[form](token * (_SIZE // len(token))), is_last=True)


def test_a_token_again_and_again_takes_no_longer_where_more_may_follow() -> None:
    for token in share_of(TOKENS, 3):
        with quick(_SECONDS, token):
            _read(token * (_SIZE // len(token)))


@pytest.mark.parametrize("start", STARTS)
def test_a_token_again_and_again_within_something_takes_no_longer_either(start: bytes) -> None:
    first = STARTS.index(start) % 5  # so that each token follows some start
    for token in TOKENS if NIGHTLY else TOKENS[first::5]:
        with quick(2, (start, token)):
            _read(start + token * (MIB // 32 // len(token)), is_last=True)


@pytest.mark.parametrize(("token", "steps"), [(b"m x=1\n", 3), (b'{"name":"m","fields":{}}\n', 5)])
def test_packed_text_of_very_many_records_takes_bounded_memory(token: bytes, steps: int) -> None:
    text = token * (steps * STEP // len(token)) + secrets.token_hex(32_000).encode() + b"\n"
    stored = zstandard.compress(text)
    assert len(stored) > len(text) / 250
    peak, _ = megabytes(lambda: _read(stored))
    assert peak < 30


@pytest.mark.parametrize("part", ["name", "tag", "field", "value"])
@pytest.mark.parametrize("together", [1, 2])
def test_long_names_are_not_remembered(part: str, together: int) -> None:
    def frame(number: int) -> bytes:
        said = {name: name for name in ("name", "tag", "field", "value")}
        said[part] = f"{number}" + "x" * (MIB + MIB // 2)
        record = {
            "name": said["name"],
            "tags": {said["tag"]: said["value"]},
            "fields": {said["field"]: 1},
            "timestamp": 1713204200,
        }
        text = json.dumps({"metrics": [record] * together, "more": secrets.token_hex(20_000)}) + "\n"
        return zstandard.compress(text.encode())

    shapes, frames = ShapeCache(), [frame(number) for number in range(6)]
    assert _read(frames[0]).left_out.records == together
    peak, left = megabytes(lambda: [_read(one, shapes=shapes) for one in frames])
    assert peak < 60
    assert left < 3


def test_very_many_names_are_remembered_in_bounded_memory() -> None:
    shapes = ShapeCache()
    lines = [b"m,tag=%b a=1 %b\n" % (b"%05d" % number + b"x" * 10_000, _STAMP) for number in range(3_000)]
    _, left = megabytes(lambda: [_read(b"".join(lines[at : at + 100]), shapes=shapes) for at in range(0, 3_000, 100)])
    assert left < 24


def test_a_record_of_more_lines_than_a_window_holds_is_refused_and_the_next_one_is_read() -> None:
    string = b'"\n' + b"x" * (MAX_STRING - 10) + b'"'
    fields = b",".join(b"f%d=%b" % (number, string) for number in range(90))
    blob = b'm a="x",%b %b\n' % (fields, _STAMP) + b"mem used=7 %b\n" % _STAMP
    assert len(blob) > WINDOW
    at, packed, samples, refused, turns = 0, b"", 0, 0, 0
    while at < len(blob) and turns < 100:
        found = _read(blob[at : at + WINDOW], packed=packed, is_last=at + WINDOW >= len(blob))
        assert found.consumed
        at, packed, turns = at + found.consumed, found.packed, turns + 1
        samples, refused = samples + found.samples, refused + found.refused.count
    assert (at, samples) == (len(blob), 1)
    assert refused


def test_a_record_of_several_lines_that_fits_into_a_line_is_read() -> None:
    string = b'"\n' + b"x" * (MAX_STRING - 10) + b'"'
    count = MAX_LINE // (len(string) + 5)
    record = b"m %b %b\n" % (b",".join(b"f%02d=%b" % (number, string) for number in range(count)), _STAMP)
    assert MAX_LINE - 2 * MAX_STRING < len(record) < MAX_LINE
    found = _read(record + b"mem used=7 %b\n" % _STAMP)
    assert (found.refused.count, found.left_out.records, found.samples) == (0, 2, 1)


def test_behind_a_line_that_is_too_long_the_next_one_is_read() -> None:
    before, behind = b"mem used=3 %b\n" % _STAMP, b"mem used=7 %b\n" % _STAMP
    blob = before + b"mem used=" + b"1" * (2 * WINDOW) + b"\n" + behind
    at, packed, samples, refused, lost = 0, b"", 0, 0, 0
    while at < len(blob):
        found = _read(blob[at : at + WINDOW], packed=packed)
        assert found.consumed
        at, packed, lost = at + found.consumed, found.packed, lost + found.lost
        samples, refused = samples + found.samples, refused + found.refused.count
    assert (samples, refused, lost, State.unpack(packed).in_line) == (2, 1, 0, False)


@pytest.mark.parametrize("rest", [b"", b"1" * WINDOW])
def test_behind_a_line_that_is_too_long_and_has_no_end_the_next_units_are_read(rest: bytes) -> None:
    units = [gzip.compress(b"mem used=%d %b\n" % (number, _STAMP)) for number in range(20)]
    blob = b"mem used=" + b"1" * (MAX_LINE + 10) + rest + b"".join(units)
    at, packed, samples, refused = 0, b"", 0, 0
    while at < len(blob):
        found = _read(blob[at : at + WINDOW], packed=packed, is_last=at + WINDOW >= len(blob))
        assert found.consumed
        at, packed = at + found.consumed, found.packed
        samples, refused = samples + found.samples, refused + found.refused.count
    assert (samples, refused) == (20, 1)


def test_a_unit_is_read_by_parts_whose_lines_count_each() -> None:
    good = b"".join(b"mem used=%06d %b\n" % (number * number % 999_983, _STAMP) for number in range(30_000))
    lines = good.splitlines(keepends=True)
    count = len(lines) // 100
    text = b"".join(line + b"what?\n" * (number % 100 == 99) for number, line in enumerate(lines))
    assert len(text) > 2 * STEP
    found = _read(zstandard.compress(text) + lines[0])
    assert (found.left_out.records, found.refused.count, found.left_out.refused) == (len(lines) + 1, count, count)
    (refusal,) = found.refused.first
    assert (refusal.offset, refusal.position) == (0, 100 * len(lines[0]) + len(b"what?"))
    assert refusal.reason == (
        "A comma or a space is expected behind the name and its tags (the position is that in its text, decompressed);"
        f" and {count - 1:,} more in this unit."
    )


def test_a_blob_has_only_so_many_sessions() -> None:
    sessions = Sessions(begun=MAX_SESSIONS - 1)
    task, node = Writer("n", Identity(task="t")), Writer("n", Identity())
    assert sessions.begin(task, Identity()) is None  # the last ones are for nodes
    assert sessions.begin(node, Identity()) is not None
    sessions.end("n")
    assert sessions.begin(node, Identity()) is None
    assert sessions.current == {}


def _member_without_end(size: int) -> bytes:
    """Returns the begin of a gzip member that never ends."""
    block = b"\0" + struct.pack("<HH", 0xFFFF, 0) + bytes(0xFFFF)
    return (b"\x1f\x8b\x08\0" + bytes(6) + block * (size // len(block) + 1))[:size]


def _frame_without_end(size: int) -> bytes:
    """Returns the begin of a zstd frame of raw blocks that never ends."""
    block = (1 << 17 << 3).to_bytes(3, "little") + bytes(1 << 17)
    return (b"\x28\xb5\x2f\xfd\0\0" + block * (size // len(block) + 1))[:size]


_WINDOWS = list(
    product(
        (_member_without_end, _frame_without_end),
        (b"", b"m,t=", b'm f="', b"\x78\x9cdamaged", b"\x28\xb5\x2f\xfd\x08"),
        (b"", b"\xef\xbb\xbf"),
        (0, 0.99, 1, 2, 3.9),
    )
)


@pytest.mark.parametrize(("unit", "before", "mark", "mebibytes"), share_of(_WINDOWS, 3))
def test_something_is_taken_of_every_full_window(
    unit: Callable[[int], bytes], before: bytes, mark: bytes, mebibytes: float
) -> None:
    stored = mark + before + bytes(int(mebibytes * MIB)) + unit(2 * WINDOW)
    at = 0
    while len(stored) - at >= WINDOW:
        steps = list(Decoder(together=True).steps(stored[at : at + WINDOW], at))
        assert steps
        if steps[-1].in_line or steps[-1].in_damage:
            break
        assert steps[-1].end > at
        at = steps[-1].end


def test_members_that_share_an_end_without_an_end_are_looked_at_for_seconds_only() -> None:
    stored = b"m,t=" + b"\x1f\x8b\x08\x08aaaa" * 9000 + b"\0" + b"\0\0\0\xff\xff" * (WINDOW // 5)
    with quick(5, stored[:20]):
        assert _read(stored[:WINDOW]).consumed


@pytest.mark.parametrize("before", [b"m,t=", b""], ids=["behind text", "alone"])
def test_frames_that_share_blocks_are_looked_at_for_seconds_only(before: bytes) -> None:
    blocks = b"".join(_block(1 << 17, b"a", 2) for _ in range(1000)) + _block(5, b"\xff" * 5, 4 | 1)
    heads = [b"\x28\xb5\x2f\xfd\0\x38" + _block(9 * left, b"") for left in range(9000, -1, -1)]
    stored = (before + b"".join(heads) + blocks).ljust(WINDOW, b"a")
    with quick(5, stored[:20]):
        assert _read(stored).consumed


def _block(size: int, content: bytes, kind: int = 0) -> bytes:
    """Returns a block of a zstd frame, with its kind as in its last three bits."""
    return (size << 3 | kind).to_bytes(3, "little") + content


def _lines(number: int, text: bytes) -> bytes:
    return b"".join(text % place for place in range(number))


@pytest.mark.parametrize(
    "unit",
    [
        zstandard.compress(b"m a=1u\n" * 9000),
        pytest.param(zstandard.compress(b"#\n" * 32_000), marks=nightly),
        pytest.param(zstandard.compress(_lines(9000, b"a-long_name-that:is_%d b=1\n")), marks=nightly),
        zstandard.compress(_lines(200, b"long-name_of:" * 64 + b"%d b=1\n") + secrets.token_bytes(300)),
        pytest.param(_lines(9000, b"a-long_name-that:is_%d b=1\n"), marks=nightly),
        zstandard.compress(b""),
        pytest.param(gzip.compress(b""), marks=nightly),
        b"\0\0\0\2\n\0",
    ],
    ids=["short lines", "comments", "names", "long names", "names in text", "frames", "members", "messages"],
)
def test_slow_text_is_read_in_part_at_once_and_the_rest_later(unit: bytes) -> None:
    stored = (unit * (WINDOW // len(unit) + 1))[:WINDOW]
    with quick(20, stored[:20]):
        found = _read(stored)
        assert 0 < found.consumed < WINDOW


_ODD = {
    "damaged frames and good ones": b"\x28\xb5\x2f\xfd\x08" + zstandard.compress(b""),
    "damaged members and good ones": b"\x1f\x8b\x08\xff" + gzip.compress(b""),
    "damaged streams and good ones": b"\x78\x9cdamaged" + zlib.compress(b""),
    "marks in lines": b"m,t=\x28\xb5\x2f\xfd\x08\n",
    "marks of members": b"\x1f\x8b\x08" * 9 + b"\n",
    "names of members without an end, in lines": b"\x1f\x8b\x08\x08\n",
    "names of members without an end": b"\x1f\x8b\x08\x08",
    "frames of blank lines": zstandard.compress(b"\n" * (MIB // 4)),
    "frames of many records": zstandard.compress(b"mem used=1 1713204200\n" * 11_000),
}


_BEFORE = (b"", b"m,t=" + bytes(MIB), b'm f="', b"m" + b",t=a" * (MIB // 4) + b' f="')


@pytest.mark.parametrize(("odd", "before"), share_of([(odd, len(before)) for before in _BEFORE for odd in _ODD], 4))
def test_something_is_taken_of_any_window_within_seconds(odd: str, before: int) -> None:
    (begin,) = (text for text in _BEFORE if len(text) == before)
    stored = (begin + _ODD[odd] * 8000).ljust(WINDOW, b"\0")[:WINDOW]
    with quick(20, stored[:20]):
        assert _read(stored).consumed
