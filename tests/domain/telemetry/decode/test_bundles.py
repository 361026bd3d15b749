"""Records read together give the same result as records read one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.domain.telemetry.decode import bundles
from shared.domain.telemetry.decode.bundles import BundleReader
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.precision import Precision
from shared.domain.telemetry.sessions.blob_state import IngestResult
from tests.domain.telemetry.support.nodes import BEGIN, flat, intake

MILLISECONDS = BEGIN // 1_000_000
VALUES = st.one_of(st.integers(0, 2**64 - 1), st.floats(-1e9, 1e9), st.sampled_from([True, "7", "x", "\u00e9\\"]))
LAYOUTS: list[tuple[str, list[str]]] = [
    ("cpu", ["usage_idle", "usage_user"]), ("mem", ["used", "free", "no"]),
    ("net", ["bytes_recv"]), ("system", ["load1"]), ("system", ["uptime"]), ("agg.mem", ["used_count", "used_mean"]),
    ("procstat", ["pid", "memory_rss"]), ("unheard", ["of"]), ("mem", []), ("mem", ["Thread(s) \u00e9", "used"]),
]  # fmt: skip
TAGS = st.sampled_from([{}, {"cpu": "cpu0"}, {"host": "a"}, {"host": "b", "interface": "e"}, {"cpu": "\u00e9"}])


@st.composite
def record(draw: st.DrawFn) -> dict[str, Any]:
    name, fields = draw(st.sampled_from(LAYOUTS))
    return {
        "fields": {field: draw(VALUES) for field in fields},
        "name": name,
        "tags": draw(TAGS),
        "timestamp": MILLISECONDS + draw(st.integers(0, 300)) * 1000,
    }


ODD = st.sampled_from([
    {"fields": {"used": None}, "name": "mem", "tags": {}, "timestamp": MILLISECONDS},
    {"fields": {"used": 1}, "name": "mem", "tags": {}},
    {"fields": {"used": 1}, "name": "mem", "timestamp": MILLISECONDS},
    {"fields": {"used": 1}, "name": "mem", "tags": {"a": 1}, "timestamp": MILLISECONDS},
    {"fields": {"used": 1}, "name": "mem", "tags": {}, "timestamp": 5},
    {"fields": {"used": 1}, "name": "mem", "tags": {}, "timestamp": MILLISECONDS // 1000},
    {"fields": {"used": 1}, "name": "mem", "tags": {}, "timestamp": 1 << 70},
    {"fields": {"used": {}}, "name": "mem", "tags": {}, "timestamp": MILLISECONDS},
    {"fields": {"iso_boot_timestamp": "x"}, "name": "linux_boot", "tags": {"vm_monitor_collection": '"once"'},
     "timestamp": MILLISECONDS}, {"name": 1}, 5,
])  # fmt: skip


def read(text: bytes, *, together: bool) -> IngestResult:
    reader, taken = intake(), IngestResult(0)
    for step in Decoder(together=together).steps(text, 0, is_last=True):
        reader.gather(step, taken)
    reader.sum_up(taken)
    return taken


def outcome(taken: IngestResult) -> tuple[Any, ...]:
    rollups = {
        number: {key: replace(one, sum=float(f"{one.sum:.9g}")) for key, one in flat(part).items()}  # to rounding
        for number, part in taken.rollups.items()
    }
    return rollups, taken.sessions, taken.rejected, taken.dropped


@given(
    st.lists(st.lists(st.one_of(record(), record(), record(), ODD), max_size=12).map(lambda some: some * 3), max_size=3)
)
def test_batches_come_to_the_same_together_and_one_by_one(batches: list[list[Any]]) -> None:
    text = b"".join(json.dumps({"metrics": batch}).encode() + b"\n" for batch in batches)
    assert outcome(read(text, together=True)) == outcome(read(text, together=False))


@given(st.lists(record(), min_size=1, max_size=8), st.data())
def test_a_batch_that_is_damaged_anywhere_comes_to_the_same(some: list[Any], data: st.DataObject) -> None:
    text = bytearray(json.dumps({"metrics": some * 3}).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at : at + 1] = data.draw(st.binary(max_size=2))
    assert outcome(read(bytes(text), together=True)) == outcome(read(bytes(text), together=False))


def sent(name: str, second: int, tags: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    return {"fields": fields, "name": name, "tags": tags or {}, "timestamp": MILLISECONDS + second * 1000}


@pytest.mark.parametrize(
    "batch",
    [
        [sent("mem", 1, used=1), sent("mem", 2, used=2), sent("mem", 3, used=3),
         sent("linux_boot", 4, {"vm_monitor_collection": "once"}), sent("mem", 5, used=5), sent("mem", 6, used=6)],
        [sent("procstat", second, pid=second % 2, memory_rss=second) for second in range(9)],
        [sent("mem", second, used=second) for second in range(4)]
        + [sent("mem", second, used=second, free=7) for second in range(9)],
        [sent("processes", second, {"type": "fork_rate"}, value=second + second // 5 / 2) for second in range(5)]
        + [sent("processes", second, {"type": "fork_rate"}, value=second) for second in range(5, 9)],
        [sent("net", 70 - second, bytes_recv=second) for second in range(20)],
        [sent("cpu", second, {"cpu": f"cpu{second % 3}"}, usage_idle=second) for second in range(12)]
        + [sent("cpu", 12, {"cpu": "cpu1"}, usage_idle=12, usage_user=3)],
    ],
    ids=["a session begins", "fields tell series apart", "fields come and go", "fractions", "times descend",
         "one of several has another field"],
)  # fmt: skip
def test_similar_records_are_kept_apart(batch: list[Any]) -> None:
    text = json.dumps({"metrics": batch}).encode() + b"\n"
    assert outcome(read(text, together=True)) == outcome(read(text, together=False))


def test_records_that_are_alike_are_read_together() -> None:
    some = [
        {"fields": {"used": number}, "name": "mem", "tags": {"host": "n"}, "timestamp": MILLISECONDS + number}
        for number in range(10)
    ]
    found = BundleReader(Precision()).read(json.dumps({"metrics": some}).encode())
    assert found is not None
    (bundle,) = found
    assert (bundle.name, bundle.tags, bundle.names, bundle.values) == ("mem", {"host": "n"}, ("used",), list(range(10)))
    assert list(bundle.metrics())[3] == Metric("mem", {"host": "n"}, {"used": 3}, BEGIN + 3_000_000)


def test_each_of_those_with_the_same_fields_keeps_its_own_values() -> None:
    some = [sent("cpu", second, {"cpu": f"cpu{second % 3}"}, usage_idle=second, usage_user=-second)
            for second in range(9)]  # fmt: skip
    found = BundleReader(Precision()).read(json.dumps({"metrics": some}).encode())
    assert found is not None
    assert {bundle.tags["cpu"]: bundle.values for bundle in found} == {
        "cpu0": [0, 0, 3, -3, 6, -6], "cpu1": [1, -1, 4, -4, 7, -7], "cpu2": [2, -2, 5, -5, 8, -8],
    }  # fmt: skip


def test_a_line_of_very_many_layouts_is_left_before_much_is_made_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, ...]] = []
    real = bundles._decoder_of

    def counted(names: tuple[str, ...]) -> Any:
        made.append(names)
        return real(names)

    monkeypatch.setattr(bundles, "_decoder_of", counted)
    some = [sent("odd", 1, **{f"field{number // 2}": 1}, tags={"n": str(number // 2)}) for number in range(1000)]
    assert BundleReader(Precision()).read(json.dumps({"metrics": some}).encode()) is None
    assert 0 < len(made) < 100
