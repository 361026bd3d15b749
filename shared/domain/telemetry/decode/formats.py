"""Detection of a blob's format by its first bytes, to report it where it is no telemetry.

It never decides how a blob is read. It distinguishes formats that agents and people write by mistake by their marks:
magic bytes, first characters, the shape of lines.
"""

import csv
import re
import zlib
from codecs import BOM_UTF8

from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.frames import form_at
from shared.domain.telemetry.decode.line_grammar import read_record
from shared.domain.telemetry.decode.otlp_protobuf import HEAD, begins_message
from shared.domain.telemetry.records.metrics import TextError
from shared.domain.telemetry.records.precision import Precision

LINE_PROTOCOL, TELEGRAF_JSON, PROMETHEUS = "line protocol", "Telegraf's JSON", "Prometheus text"
OTLP_JSON, OTLP = "OTLP JSON", "OTLP"
READABLE = frozenset((LINE_PROTOCOL, TELEGRAF_JSON, PROMETHEUS, OTLP_JSON, OTLP))
EMPTY, BINARY, TEXT = "empty", "binary data of no known format", "text of no known format"
_HEAD = 4096
_MAGICS = (
    (b"PAR1", "Parquet"), (b"ARROW1", "Arrow"), (b"Obj\x01", "Avro"), (b"ORC", "ORC"), (b"SQLite format 3\0", "SQLite"),
    (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "a ZIP archive"), (b"\x04\x22\x4d\x18", "LZ4"),
    (b"\xff\x06\0\0sNaPpY", "Snappy"), (b"%PDF", "PDF"), (b"\x89HDF", "HDF5"), (b"\x7fELF", "a program"),
)  # fmt: skip
_UTF16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_LABELS = r'\{(?:[^"}]|"(?:\\.|[^"\\])*")*\}'  # a label's value may hold a brace: `{path="/users/{id}"}`
_SAMPLE = rf"[a-zA-Z_:][\w:.]*(?:{_LABELS})? +[-+]?(?:[\d.]+(?:e[-+]?\d+)?|NaN|Inf)(?: +-?\d+(?:\.\d+)?)?(?: +#.*)?"
_PROMETHEUS = re.compile(rf"(?:# (?:HELP|TYPE|UNIT|EOF|timestamp)\b.*|{_SAMPLE})", re.IGNORECASE)
_GRAPHITE = re.compile(r"[\w.;=\-]+ [-+]?[\d.]+(?:e[-+]?\d+)? \d{9,13}", re.IGNORECASE)
_STATSD = re.compile(r"[\w.\-/]+:[-+]?[\d.]+\|(?:c|g|ms|h|s|d)\b.*")
_OTLP_JSON = re.compile(r'"(?:resourceMetrics|resource_metrics|scopeMetrics)"\s*:')
_OTLP_OTHERS = re.compile(r'"resource(?:Logs|Spans|Profiles)"\s*:')
_TELEGRAF = re.compile(r'"metrics"\s*:\s*\[|"fields"\s*:\s*\{')
_XML = re.compile(r"<(?:\?xml|!--|[a-zA-Z][\w:.\-]*[\s/>])")
_HTML = re.compile(r"<(?:!doctype html|html)", re.IGNORECASE)
_MARKS = "\t,;|"
_MIN_COLUMNS, _MIN_LINES = 2, 2
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def format_of(stored: bytes) -> str:
    """Returns the apparent format of a blob's first bytes in a few words; compressed data is decompressed first."""
    if not stored.strip():
        return EMPTY
    form = form_at(stored, 0)
    if form is None or form is Form.TEXT:
        return _plain(stored)
    if form is Form.OTLP:
        return OTLP
    head = _decompressed(stored, form)
    return f"{form} of {_plain(head)}" if head else f"damaged {form}"


def is_readable(seems: str) -> bool:
    """Returns whether an apparent format is one that is decoded."""
    return seems.rpartition(" of ")[2] in READABLE


def _decompressed(stored: bytes, form: Form) -> bytes:
    """Returns the start of compressed text; empty where it can't be decompressed."""
    if form is Form.ZSTD:
        return _of_zstd(stored)
    try:
        return zlib.decompressobj(47).decompress(stored, _HEAD)  # gzip's header or zlib's
    except zlib.error:
        return b""


def _of_zstd(stored: bytes) -> bytes:
    import zstandard  # noqa: PLC0415 - it is slow to load, as compression.py says

    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 25).stream_reader(stored) as reader:
            return reader.read(_HEAD)
    except zstandard.ZstdError:
        return b""


def _plain(stored: bytes) -> str:
    for magic, name in _MAGICS:
        if stored.startswith(magic):
            return name
    head = stored[:_HEAD].removeprefix(BOM_UTF8)
    for mark, encoding in _UTF16:
        if head.startswith(mark):
            return f"UTF-16 text of {_of_text(head[2:].decode(encoding, 'ignore'))}"
    if head.strip(b"\0") and not (head[:400:2].strip(b"\0") and head[1:400:2].strip(b"\0")):
        encoding = "utf-16-be" if not head[0] else "utf-16-le"
        return f"UTF-16 text of {_of_text(head.decode(encoding, 'ignore'))}" if len(head) > 1 else BINARY
    if _CONTROL.search(head):
        return "OTLP (protobuf)" if _is_otlp(stored) else BINARY
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            return BINARY
        text = head[: error.start].decode()
    return _of_text(text)


def _is_otlp(stored: bytes) -> bool:
    """Returns whether bytes begin like a message of OTLP, whose first part isn't empty."""
    return stored[1:2] != b"\0" and begins_message(stored[:HEAD]) is True


def _of_text(text: str) -> str:
    shown = text.lstrip()
    if shown[:1] in ("{", "["):
        return _of_json(shown)
    if _HTML.match(shown):
        return "HTML"
    if _XML.match(shown):
        return "XML"
    lines = [line for line in text.splitlines() if line.strip()]
    lines = lines[:-1] if len(lines) > 1 and len(text) >= _HEAD - 4 else lines[:50]
    return _of_lines(lines) if lines else EMPTY


def _of_json(text: str) -> str:
    if _OTLP_OTHERS.search(text):
        return "JSON of OTLP without metrics"
    if _OTLP_JSON.search(text):
        return OTLP_JSON
    return TELEGRAF_JSON if text[0] == "{" and _TELEGRAF.search(text) else "JSON of another shape"


def _of_lines(lines: list[str]) -> str:
    """Returns the format of most lines, as some may be bad."""
    most = len(lines) / 2
    if sum(map(_is_record, lines)) > most:
        return LINE_PROTOCOL
    for name, pattern in (("Graphite's plain text", _GRAPHITE), (PROMETHEUS, _PROMETHEUS), ("StatsD", _STATSD)):
        if sum(bool(pattern.fullmatch(line.strip())) for line in lines) > most:
            return name
    return _of_columns(lines) or TEXT


def _is_record(line: str) -> bool:
    try:
        return read_record(line.encode(), 0, Precision())[0] is not None
    except TextError:
        return False


def _of_columns(lines: list[str]) -> str:
    """Returns CSV where a separator splits all lines into the same number of columns."""
    for mark in _MARKS:
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=mark)}
        except csv.Error:
            continue
        if len(lines) >= _MIN_LINES and len(widths) == 1 and widths.pop() >= _MIN_COLUMNS:
            return "CSV" if mark == "," else f"CSV with {'tabs' if mark == chr(9) else mark}"
    return ""
