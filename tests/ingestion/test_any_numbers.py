"""Records with any numbers are either stored in rows and read back, or refused."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from secrets import token_urlsafe
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.blobs.blobs import BlobRows, Entry
from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.event_chunks import events_of
from shared.domain.events.event_records import RecordError, parse_event
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.chunks import add_column
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.blob_state import State
from shared.domain.telemetry.sessions.intake import Window
from shared.services.blobs.blob_intake import Piece
from shared.services.telemetry.telemetry_steps import Context, Steps, read_steps
from shared.stores import events
from shared.stores.tables.rows import json_of
from shared.stores.telemetry import telemetry
from tests.ingestion.rig import NOON, record

CONTEXT = Context(Identity("pool", "n1"), Window(NOON - timedelta(days=7), NOON + timedelta(hours=1)), b"")
WHOLE = st.one_of(st.integers(), st.sampled_from([0, 2**63, -(2**63) - 1, 2**64 - 1, 2**64, 10**25, -(10**29), 10**40]))
NUMBERS = WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
SENT = NUMBERS | NUMBERS.map(str) | st.sampled_from(["9" * 20, "nan", "1e999", ""])
STAMP = to_milliseconds(NOON) * 1_000_000
FIELDS = [
    ("mem", "used"), ("mem", "used_percent"), ("net", "bytes_recv"), ("system", "uptime"), ("agg.mem", "used_mean"),
    ("agg.mem", "used_min"), ("agg.mem", "used_max"), ("agg.mem", "used_count"), ("vm_lscpu_metadata", "CPUs"),
    ("exec.lsblk", "size"), ("nvme_metadata", "physical_size"), ("batch_agent_data", "batch_boot_time"),
]  # fmt: skip


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    """Draws a line of JSON with records of several kinds, with numbers of any kind."""
    drawn = [
        (name, {field: draw(SENT) for kind, field in FIELDS if kind == name})
        for name in draw(st.lists(st.sampled_from([kind for kind, _ in FIELDS]), min_size=1, max_size=6))
    ]
    once = draw(st.booleans())
    metrics = [
        {
            "name": name,
            "tags": {"interface": "e"} | ({"vm_monitor_collection": "once"} if once else {}),
            "fields": fields | {"name": "sda", "type": "disk"},
            "timestamp": STAMP + number,
        }
        for number, (name, fields) in enumerate(drawn * 2)
    ]
    return json.dumps({"metrics": metrics}).encode() + b"\n"


UNSIGNED = st.integers(0, 2**64 - 1).map(lambda number: f"{number}u")
LINES = st.lists(
    st.builds(
        lambda kind, number, second: f"{kind}={number} {STAMP + second * 10**9}\n",
        st.sampled_from(["mem used", "net,interface=e bytes_recv", "system uptime"]),
        UNSIGNED | st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(["t", "false"]),
        st.integers(0, 200),
    ),
    min_size=1,
    max_size=8,
).map(lambda lines: "".join(lines).encode())


BLOB = BlobRows("demo", "blob")


def steps_of(body: bytes, context: Context = CONTEXT) -> Steps:
    piece = Piece("lane", telemetry.checkpoint_key(BLOB), Entry("b", NOON, NOON), 0, body, False, False, False)
    return read_steps(piece, context)


@given(batches() | LINES)
def test_sent_numbers_can_be_written_and_read_back(body: bytes) -> None:
    found = steps_of(body)
    assert found.consumed == len(body)
    telemetry.state_row(BLOB, telemetry.BlobState(), found.packed, found.left_out)
    for session in found.sessions.values():
        _, row, _ = telemetry.session_row(BLOB, session)
        assert telemetry._session(row).facts == session.facts
    State.unpack(found.packed)
    rollups: Rollups = {}
    telemetry.chunk_rows(BLOB, 0, found.chunks)
    for chunk in found.chunks:
        for name, packed in chunk.columns.items():
            add_column(rollups, name, chunk.block, packed)
    assert sum(one.count for minutes in rollups.values() for one in minutes.values()) == found.samples


@given(st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)))
def test_logged_values_can_be_written_and_read_back_or_are_refused(value: Any) -> None:
    with suppress(RecordError):
        found = parse_event(record("a", properties={"id": "a", "more": value}))
        ((_, row),) = events.chunk_rows("demo", "source", [found])
        assert events_of(row["ids"], json_of(row, "events")) == [found]


@pytest.mark.parametrize(("compress", "refused"), [(zstandard.compress, 1), (bytes, 0)])
def test_names_that_are_too_large_for_a_transaction_go_in_parts_or_are_refused(
    compress: Callable[[bytes], bytes], refused: int
) -> None:
    lines = [
        f"disk,host=n{number % 16},path={token_urlsafe(90)},device={token_urlsafe(90)},fstype={token_urlsafe(90)} "
        f"used=1i {STAMP}\n"
        for number in range(9_000)
    ]
    body = compress("".join(lines).encode())
    found, context, read = steps_of(body), CONTEXT, list[Steps]()
    while found.chunks and len(body) > found.consumed:
        body, context = body[found.consumed :], replace(context, packed=found.packed)
        read.append(found)
        found = steps_of(body, context)
    sizes = [sum(len(some) for chunk in one.chunks for some in chunk.columns.values()) for one in (*read, found)]
    assert max(sizes) < 2_200_000
    assert found.refused.count == refused
