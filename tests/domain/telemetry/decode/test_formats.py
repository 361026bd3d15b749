"""The format detected from the first bytes, and the explanation for blobs that aren't charted."""

import bz2
import gzip
import lzma
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.blobs.uncharted_blobs import why_undrawn
from shared.domain.telemetry.decode.formats import READABLE, format_of, is_readable
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts

LINES = b"cpu,cpu=cpu0 usage_idle=93.5 1786017660000000000\nmem used=1i 1786017660000000000\n"
TELEGRAF = b'{"metrics":[{"fields":{"a":1},"name":"a","tags":{},"timestamp":1786017660000}]}\n'
PROMETHEUS = (
    b'# HELP node_cpu x\n# TYPE node_cpu counter\nnode_cpu{cpu="0",mode="idle"} 12.5\nnode_load1 0.3 1786017660\n'
)
OTLP_JSON = b'{"resourceMetrics":[{"resource":{"attributes":[]},"scopeMetrics":[]}]}'
OTLP = (
    b"\x0a\x2e\x0a\x14\x0a\x12\x0a\x09host.name\x12\x05\x0a\x03abc"
    b"\x12\x16\x12\x14\x0a\x0bsystem.load\x2a\x05\x0a\x03\x31\x00\x00"
)
CSV = b"time,host,cpu\n2026-08-06T12:00:00Z,n1,0.5\n2026-08-06T12:01:00Z,n1,0.6\n"

FORMATS = {
    LINES: "line protocol",
    b"\xef\xbb\xbf" + LINES: "line protocol",
    TELEGRAF: "Telegraf's JSON",
    b'{"name":"cpu","fields":{"a":1},"timestamp":1}\n': "Telegraf's JSON",
    OTLP_JSON: "OTLP JSON",
    OTLP: "OTLP (protobuf)",
    PROMETHEUS: "Prometheus text",
    b"node_load1 0.3\nnode_load5 0.25\n": "Prometheus text",
    b'asked{path="/a/{id}",by="x"} 3\nasked{path="}\\\\\\"",by="x"} 4\n': "Prometheus text",
    CSV: "CSV",
    CSV.replace(b",", b";"): "CSV with ;",
    CSV.replace(b",", b"\t"): "CSV with tabs",
    b"servers.n1.load 0.5 1786017660\nservers.n1.cpu 3 1786017660\n": "Graphite's plain text",
    b"n1.requests:3|c\nn1.load:0.5|g\n": "StatsD",
    b"<?xml version='1.0'?><metrics><cpu>1</cpu></metrics>": "XML",
    b"<metrics>\n<cpu>1</cpu>\n</metrics>": "XML",
    b"<!DOCTYPE html><html></html>": "HTML",
    b'{"series":[{"metric":"a","points":[]}]}': "JSON of another shape",
    b'[{"name":"cpu","value":1}]': "JSON of another shape",
    b"PAR1\x15\x04\x15\x10": "Parquet",
    b"ARROW1\0\0": "Arrow",
    b"Obj\x01\x04\x16avro.schema": "Avro",
    b"PK\x03\x04\x14\0": "a ZIP archive",
    gzip.compress(PROMETHEUS, mtime=0): "gzip of Prometheus text",
    gzip.compress(LINES, mtime=0): "gzip of line protocol",
    gzip.compress(LINES * 900, mtime=0)[:130]: "gzip of line protocol",
    zlib.compress(OTLP_JSON): "zlib of OTLP JSON",
    zstandard.compress(CSV): "zstd of CSV",
    zstandard.compress(TELEGRAF): "zstd of Telegraf's JSON",
    b"\x1f\x8b\x08\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff": "damaged gzip",
    bz2.compress(LINES): "bzip2",
    lzma.compress(LINES): "xz",
    LINES.decode().encode("utf-16"): "UTF-16 text of line protocol",
    CSV.decode().encode("utf-16-le"): "UTF-16 text of CSV",
    CSV.decode().encode("utf-16-be"): "UTF-16 text of CSV",
    b"": "empty",
    b" \n\n": "empty",
    b"Hello world, this is a log\nof several lines\n": "text of no known format",
    bytes(range(256)): "binary data of no known format",
    bytes(100): "binary data of no known format",
}


@pytest.mark.parametrize(("stored", "seems"), FORMATS.items(), ids=[*map(str, range(len(FORMATS)))])
def test_a_format_is_known_by_its_start(stored: bytes, seems: str) -> None:
    assert format_of(stored) == seems
    assert is_readable(seems) == any(seems.endswith(name) for name in READABLE)


@pytest.mark.parametrize("stored", [LINES * 200, TELEGRAF * 200, PROMETHEUS * 200, CSV + CSV[14:] * 200], ids=range(4))
def test_the_start_suffices(stored: bytes) -> None:
    assert format_of(stored) == format_of(stored[:3000])


@given(
    st.binary(max_size=300) | st.sampled_from([*FORMATS]).flatmap(lambda one: st.binary(max_size=20).map(one.__add__))
)
def test_any_bytes_seem_to_be_something(stored: bytes) -> None:
    assert format_of(stored)
    for cut in range(0, len(stored), 7):
        assert format_of(stored[:cut])


@pytest.mark.parametrize(
    ("seems", "counts", "reason"),
    [
        ("CSV", DroppedCounts(refused=3),
         "It seems to be CSV, which isn't read: agents write line protocol, Telegraf's JSON, OTLP or Prometheus text."),
        ("empty", DroppedCounts(), "There is nothing in it yet."),
        ("line protocol", DroppedCounts(), "It ends before its first record does; the rest is waited for."),
        ("gzip of XML", DroppedCounts(), ("It seems to be gzip of XML, which isn't read: agents write line protocol, "
         "Telegraf's JSON, OTLP or Prometheus text.")),
        ("line protocol", DroppedCounts(records=7, unknown={"a": 1, "b": 2, "c": 1, "d": 3}),
         "Of its 7 records 7 are of measurements without numbers (“d”, “b”, “a” and 1 others)."),
        ("", DroppedCounts(records=2, without_time=2, refused=1), "Of its 2 records 1 can't be read, 2 have no time."),
        ("Telegraf's JSON", DroppedCounts(records=2), "Of its 2 records none has a series."),
    ],
)  # fmt: skip
def test_an_undrawn_blob_has_its_reason(seems: str, counts: DroppedCounts, reason: str) -> None:
    assert why_undrawn(seems, counts) == reason
