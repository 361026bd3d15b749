"""Decoders reach the end of any blob: each byte in one step, no endless number, no crash."""

import gzip
import json
import zlib
from codecs import BOM_UTF8
from itertools import pairwise
from math import isfinite

import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.sessions.blob_state import IngestResult
from tests.domain.telemetry.support.nodes import BEGIN, intake

_STAMP = BEGIN // 1_000_000
_BATCH = {
    "metrics": [
        {
            "fields": {"used": 3, "free": 1e300, "no": "x"},
            "name": "mem",
            "tags": {"host": "n"},
            "timestamp": _STAMP + number,
        }
        for number in range(6)
    ]
}
_JSON = json.dumps(_BATCH).encode() + b"\n"
_LINES = (
    b'mem,host=n used=3i,free=-.5e3 1713204180\nnet,interface=e bytes_sent=18446744073709551615u\nx s="a\\"\nb",t=T 7\n'
)
_UNITS = [
    _JSON, _LINES, zstandard.compress(_JSON), zstandard.compress(_LINES), gzip.compress(_JSON), zlib.compress(_LINES),
    zstandard.compress(bytes(300_000)), b"\x50\x2a\x4d\x18\x03\0\0\0abc", b"\xef\xbb\xbf", b"x\x9c", b"{", b'm s="',
    b"agg.mem used_count=3i,used_min=1,used_max=2,used_mean=1.5 1713204180\n", b'{"metrics":[]}\n', b"[[[[[[",
    b"\r\n#c\n",
]  # fmt: skip


@st.composite
def stored(draw: st.DrawFn) -> bytes:
    """Draws units of all kinds, some of them damaged."""
    whole = bytearray()
    for unit in draw(st.lists(st.one_of(st.sampled_from(_UNITS), st.binary(max_size=30)), max_size=6)):
        part = bytearray(unit)
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(part)))
            part[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        whole += part
    return bytes(whole)


def read(content: bytes, *, together: bool) -> list[Step]:
    """Returns all steps, at most as many as bytes, after ingesting each of them."""
    steps, reader, taken = [], intake(), IngestResult(0)
    for step in Decoder(together=together).steps(content, 0, is_last=True):
        steps.append(step)
        reader.gather(step, taken)
        assert len(steps) <= len(content)
    reader.sum_up(taken)
    reader.state.pack()
    return steps


@given(content=stored(), together=st.booleans())
def test_any_bytes_are_read_to_their_end_or_refused(*, content: bytes, together: bool) -> None:
    """The byte order mark at the beginning of a blob belongs to no step."""
    steps = read(content, together=together)
    assert all(before.end == after.start and before.end > before.start for before, after in pairwise(steps))
    if steps and not steps[-1].in_line:
        begin = len(BOM_UTF8) if content.startswith(BOM_UTF8) else 0
        assert (steps[0].start, steps[-1].end) == (begin, len(content))
    values = [value for step in steps for one in step.metrics for value in one.fields.values()]
    values += [value for step in steps for bundle in step.bundles for value in bundle.values]
    assert all(isfinite(value) for value in values if isinstance(value, float))
    assert all(0 <= one.start <= one.end <= len(content) for step in steps for one in step.rejected)
