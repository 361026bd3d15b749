import base64
import json
import re
from typing import Any

import pytest

from shared.domain.telemetry.records.precision import NANOSECONDS, Precision
from tests.domain.telemetry.decode.published import published
from tests.domain.telemetry.support.reading import all_steps, contents, plain, read


def test_line_protocol_is_read_as_its_makers_read_it_and_all_mistakes_have_a_place() -> None:
    cases = json.loads(published("line-protocol/decode_cases.json").read_text(encoding="utf-8"))["decode"]
    wrong = [key for key, case in cases.items() if not _is_right(case["input"], case["output"])]
    assert len(cases) == 3286
    assert wrong == []


def test_nearly_all_mistakes_stand_where_the_makers_of_line_protocol_say_and_all_in_that_line() -> None:
    """The others are at the begin or the end of the same value, or after an earlier mistake."""
    cases = json.loads(published("line-protocol/decode_cases.json").read_text(encoding="utf-8"))["decode"]
    lines, places = 0, 0
    for case in cases.values():
        place = re.search(r"at line (\d+):(\d+)", case["output"].get("error", ""))
        if place:
            text = _bytes(case["input"]["text"])
            first = read(text, Precision(case["input"]["precision"].removeprefix("1"))).mistakes[0]
            before = text[: first.start + first.position]
            lines += before.count(b"\n") + 1 == int(place[1])
            places += len(before) - before.rfind(b"\n") == int(place[2])
    assert (lines, places) == (3058, 2977)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (b"m", 1), (b"m ", 2), (b"m f", 3), (b"m f=", 4), (b"m f=1x", 5), (b"m f=1 1x", 7), (b"m f=1,", 6), (b",", 0),
        (b"m,", 2), (b"m,t", 3), (b"m,t=", 4), (b"m,t=1,t=2 f=1", 6), (b"m f=-1u", 6), (b"m f=1e999", 4),
        (b"m f=1.1.1", 7), (b"m f=99999999999999999999i", 4), (b"m f=1 99999999999999999999", 6), (b'm f="a', 4),
        (b'm f="\xff"', 5), (b"m\xff f=1", 1), (b"m,t=\xff f=1", 4), (b"m f=1\0", 5), (b"m f=1 5 ?", 7),
        (b"m\t f=1", 1), (b"m f=tru", 5),
    ],
)  # fmt: skip
def test_a_mistake_stands_at_its_byte(text: bytes, position: int) -> None:
    (found,) = read(b"m f=1 5\n" + text + b"\nm f=2 6\n").mistakes[:1]
    assert (found.start, found.position) == (8, position)


@pytest.mark.parametrize(
    ("written", "meant"),
    [(r"a\nb", r"a\nb"), (r"a\\nb", r"a\nb"), ("a\nb", "a\nb"), (r"a\rb", "a\rb"), (r"a\tb", "a\tb"), (r"\"", '"')],
)
def test_an_escaped_n_in_a_string_stays_as_it_is_written(written: str, meant: str) -> None:
    """The corpus has it so on its main branch; the published cases above are from a side branch."""
    (metric,) = read(f'm v="{written}" 5\n'.encode()).metrics
    assert metric.fields == {"v": meant}


def _is_right(given: dict[str, Any], wanted: dict[str, Any]) -> bool:
    text = _bytes(given["text"])
    unit = given["precision"].removeprefix("1")
    found = read(text, Precision(unit))
    if "error" in wanted:
        return bool(found.mistakes) and all(0 <= one.start + one.position <= len(text) for one in found.mistakes)
    usual = given["defaultTime"] // NANOSECONDS[unit] * NANOSECONDS[unit]
    got = [(*one[:3], usual if one[3] is None else one[3]) for one in plain(found.metrics)]  # type: ignore[index]
    return not found.mistakes and got == [
        (
            _text(one["name"]),
            {_text(tag["key"]): _text(tag["value"]) for tag in one.get("tags") or ()},
            {_text(field["key"]): _value(field["value"]) for field in one["fields"]},
            one["time"],
        )
        for one in wanted["result"] or ()
    ]


def _value(fields: dict[str, Any]) -> dict[str, Any]:
    return {kind.removeprefix("u"): _text(value) if kind == "string" else value for kind, value in fields.items()}


def _bytes(encoded: Any) -> bytes:
    return base64.b64decode(encoded["binary"]) if isinstance(encoded, dict) else encoded.encode()


def _text(encoded: Any) -> str:
    return _bytes(encoded).decode()


def test_the_lines_of_telegrafs_own_pages_are_read_with_the_expected_values() -> None:
    lines = published("telegraf/readme_lines.jsonl").read_text(encoding="utf-8").splitlines()
    wrong = []
    for case in map(json.loads, lines):
        wanted = case["expected"]
        found = read(case["line"].encode())
        expected = [(wanted["measurement"], wanted["tags"], wanted["fields"], wanted["time"])]
        if found.mistakes or plain(found.metrics) != expected:
            wrong.append(case["line"])
    assert len(lines) == 1678
    assert [line for line in wrong if r"hello\nworld" not in line] == []  # the corpus expects another result


def test_frames_of_the_real_encoders_are_read_to_the_last() -> None:
    frames = published("tes/go_klauspost_3frames.zst").read_bytes()
    members = published("tes/go_gzip_3members.gz").read_bytes()
    assert [(step.end, len(step.metrics), step.rejected) for step in all_steps(frames)] == [
        (305, 3, ()), (3062, 1000, ()), (3208, 1, ()),
    ]  # fmt: skip
    assert [(step.end, len(step.metrics), step.rejected) for step in all_steps(members)] == [
        (110, 1, ()), (220, 1, ()), (330, 1, ()),
    ]  # fmt: skip


def test_a_blob_as_tes_writes_it_agrees_with_its_text() -> None:
    metrics, rejected = contents(all_steps(published("tes/vm_perf_metrics.0.zst").read_bytes()))
    text = published("tes/vm_perf_metrics.0.decoded.jsonl").read_text(encoding="utf-8")
    expected = [one for line in text.splitlines() for one in json.loads(line)["metrics"]]
    assert rejected == []
    assert [(one.name, one.tags, one.fields, one.time) for one in metrics] == [
        (one["name"], one["tags"], one["fields"], one["timestamp"] * 1_000_000) for one in expected
    ]
