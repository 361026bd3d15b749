"""Records of the resource log: documented ones are parsed, others are kept or refused with a reason."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.events.batch_events import BatchEvent, parse_stamp
from shared.domain.events.event_chunks import WINDOW, Identities, by_minute, chunks_of, events_of
from shared.domain.events.event_lists import EventFilter, Position, position_of
from shared.domain.events.event_records import RecordError, parse_event
from shared.domain.events.event_sentences import KINDS, sentence_of
from tests.domain.events.event_bodies import BODIES

NOON = datetime(2026, 8, 6, 12, tzinfo=UTC)
TEXTS = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
NAMES = st.sampled_from(
    [
        "id",
        "jobId",
        "JOBID",
        "taskName",
        "nodeInfo",
        "executionInfo",
        "schedulingError",
        "startTime",
        "endTime",
        "error",
        "results",
        "resultCode",
        "targetDedicatedNodes",
        "currentDedicatedNodes",
        "taskType",
        "exitCode",
    ]
)
PROPERTIES = st.dictionaries(NAMES | TEXTS, JSON | st.dictionaries(NAMES, JSON, max_size=4), max_size=6)
STAMPS = st.sampled_from(["2026-08-06T10:00:13.5698778Z", "2019-08-22 20:50:59.522", "2019-02-30T00:00:00Z", "now", 5])


def record(kind: str = "TaskStartEvent", properties: Any = None, **more: Any) -> bytes:
    envelope = {"time": "2026-08-06T12:00:00.0000000Z", "resourceId": "/A/", "operationName": kind}
    return json.dumps({**envelope, "properties": properties or {}, **more}).encode()


def event(name: str, at: datetime = NOON) -> BatchEvent:
    return parse_event(record(properties={"jobId": "j", "id": name}, time=at.isoformat()))


@pytest.mark.parametrize("kind", ["TaskFailEvent", "TASKFAILEVENT", "taskfailevent"])
def test_kinds_and_names_count_without_case(kind: str) -> None:
    found = parse_event(
        json.dumps(
            {
                "TIME": "2019-08-22 20:50:59.522",
                "OperationName": kind,
                "Properties": {"JobId": "Job", "ID": "t", "nodeinfo": {"PoolId": "p", "NODEID": " "}},
            }
        ).encode()
    )
    assert (found.kind, found.job, found.task, found.pool, found.node) == ("TaskFailEvent", "Job", "t", "p", None)
    assert found.at == datetime(2019, 8, 22, 20, 50, 59, 522000, UTC)


def test_an_unknown_kind_is_kept_with_its_ids() -> None:
    found = parse_event(record("NodeVanishedEvent", {"poolId": "p", "nodeId": "n", "news": [1]}))
    assert (found.kind, found.pool, found.node, found.job) == ("NodeVanishedEvent", "p", "n", None)
    assert found.properties["news"] == "[left out]"
    assert sentence_of(found) == "The service logged NodeVanishedEvent of pool 'p', node 'n'."


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"vmSize": "s", "enableAutoScale": True}, "was created with nodes of size s, scaled by a formula."),
        ({"enableAutoScale": True}, "was created, scaled by a formula."),
        ({"vmSize": "s", "targetDedicatedNodes": 2}, "was created with 2 dedicated nodes of size s."),
        ({}, "was created."),
        ({"vmSize": "s"}, "was created with nodes of size s."),
    ],
)
def test_a_new_pool_is_shown_with_its_nodes(properties: dict[str, Any], words: str) -> None:
    found = parse_event(record("PoolCreateEvent", {"poolId": "p", **properties}))
    assert sentence_of(found) == f"Pool 'p' {words}"


@pytest.mark.parametrize(
    ("line", "reason", "position"),
    [
        (b"{", "It isn't JSON.", 0),
        (b'{"time": ]}', "It isn't JSON.", 9),
        (b"\xff\xfe", "It isn't JSON.", 0),
        (b"[" * 100_000, "It isn't JSON.", 0),
        (b"7", "It isn't a JSON object.", 0),
        (b"{}", "It has no operationName.", 0),
        (b'{"operationName": "X"}', "It has no time.", 0),
        (b'{"operationName": "X", "time": "soon"}', "Its time can't be read.", 0),
        (record(properties=[1]), "Its properties are not an object.", 0),
        (record("K" * 300), "Its operationName has 300 characters, more than 256.", 0),
        (record(properties={"x": json.loads("[" * 40 + "]" * 40)}), "Its properties are nested more than 32 deep.", 0),
        (record(properties={"x": [1, 2**63]}), "It has a whole number of more than 64 bits.", 0),
        (record(properties={"x": "y" * 300_000}), "It has 300121 bytes, more than 262144.", 262_144),
    ],
)
def test_invalid_records_are_refused_in_a_sentence(line: bytes, reason: str, position: int) -> None:
    with pytest.raises(RecordError) as error:
        parse_event(line)
    assert (str(error.value), error.value.position) == (reason, position)


@given(
    kind=st.sampled_from(KINDS) | TEXTS, properties=PROPERTIES | JSON, time=STAMPS, more=st.dictionaries(TEXTS, JSON)
)
def test_any_record_is_an_event_with_a_sentence_or_refused(
    kind: str, properties: Any, time: Any, more: dict[str, Any]
) -> None:
    line = json.dumps({**more, "operationName": kind, "time": time, "properties": properties}).encode()
    found = None
    with suppress(RecordError):
        found = parse_event(line)
    if found is None:
        return
    assert re.fullmatch(r".+\.", sentence_of(found), re.DOTALL)
    assert parse_event(line) == found
    ((identities, _, values),) = chunks_of([found])
    assert events_of(identities, json.loads(json.dumps(values))) == [found]


@given(line=st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused_in_a_sentence(line: bytes) -> None:
    with pytest.raises(RecordError):
        parse_event(line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019-08-22T20:59:13.5698778Z", datetime(2019, 8, 22, 20, 59, 13, 569877, UTC)),
        ("2019-08-22 20:50:59.522", datetime(2019, 8, 22, 20, 50, 59, 522000, UTC)),
        ("2019-08-22T20:50:59", datetime(2019, 8, 22, 20, 50, 59, tzinfo=UTC)),
        ("2019-08-22T20:50:59+02:00", datetime(2019, 8, 22, 18, 50, 59, tzinfo=UTC)),
        ("1969-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("2019-08-22", None),
        ("", None),
        (None, None),
    ],
)
def test_times_come_in_two_formats(text: object, expected: datetime | None) -> None:
    assert parse_stamp(text) == expected


def test_secrets_are_taken_out_and_do_not_make_repeats_of_different_events() -> None:
    first, second = (
        parse_event(record("PoolAutoScaleEvent", {"id": "p", "results": f"see https://x/y?sig={secret}&b=1"}))
        for secret in ("abcdefghijklmnop", "ponmlkjihgfedcba")
    )
    assert first.properties == second.properties == {"id": "p", "results": "see https://x/y?sig=[redacted]&b=1"}
    assert first.identity != second.identity


def test_a_secrets_name_hides_its_value() -> None:
    found = parse_event(record("NewEvent", {"poolId": "p", "accountKey": "word", "details": [{"sasToken": {"a": 1}}]}))
    assert found.properties == {"poolId": "p", "accountKey": "[redacted]", "details": [{"sasToken": "[redacted]"}]}


def test_a_value_beside_a_secrets_name_is_hidden() -> None:
    sent = {"values": [{"name": "DB_PASSWORD", "value": "word"}, {"name": "HOME", "value": "/root"}],
            "error": {"name": "token", "Value": "word", "value": "word"}}  # fmt: skip
    found = parse_event(record("NewEvent", {"poolId": "p", **sent})).properties
    assert found["error"] == {"name": "token", "Value": "[redacted]", "value": "[redacted]"}
    assert found["values"] == [{"name": "DB_PASSWORD", "value": "[redacted]"}, {"name": "HOME", "value": "/root"}]


def test_of_properties_that_nobody_knows_only_names_and_numbers_are_kept() -> None:
    settings = {"commandToExecute": "secretword", "fileUris": ["secretword"], "count": 3}
    extension = {"name": "e", "type": "CustomScript", "protectedSettings": settings, "settings": settings}
    sent = {
        "id": "p",
        "virtualMachineConfiguration": {"extensions": [extension], "nodeAgentId": "batch.node.ubuntu 22.04"},
        "novelty": "secretword",
        "percent": 7,
        "isNew": True,
        "nothing": None,
        "blank": " ",
    }
    found = parse_event(record("PoolCreateEvent", sent)).properties
    assert "secretword" not in repr(found)
    hidden = {"protectedSettings": "[left out]", "settings": "[left out]"}
    assert found == {
        **sent,
        "virtualMachineConfiguration": {
            "extensions": [{"name": "e", "type": "CustomScript", **hidden}],
            "nodeAgentId": "batch.node.ubuntu 22.04",
        },
        "novelty": "[left out]",
    }


@pytest.mark.parametrize("schedule", ["rotate-key", "sync_token", "db-password", "nightly"])
def test_the_job_of_a_schedule_is_known_even_if_its_name_looks_secret(schedule: str) -> None:
    found = parse_event(record("TaskStartEvent", {"jobId": f"{schedule}:job-12", "id": "t"}))
    assert (found.job, found.properties["jobId"]) == (f"{schedule}:job-12", f"{schedule}:job-12")
    assert f"'{schedule}:job-12'" in sentence_of(found)


TOKENS = ["ghp_" + "A1b2" * 9, "hf_" + "aB3" * 10, "glpat-" + "x1" * 12, "AKIA" + "ABCD1234" * 2, "accountKey:word"]


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_no_plain_word_in_any_place(token: str) -> None:
    found = parse_event(record(f"Kind {token}", {"id": token, "values": [token], token: 1}))
    assert token not in repr(found)
    assert found.properties["values"] != [token]


def test_a_repeat_has_the_same_identity_regardless_of_time_and_order() -> None:
    first = parse_event(record(properties={"jobId": "j", "id": "t"}))
    second = parse_event(
        record("TASKSTARTEVENT", {"id": "t", "jobId": "j"}, resourceId="/a", time="2026-08-06T13:00:00Z", level="Info")
    )
    assert first.identity == second.identity
    assert first.id != second.id
    assert first.identity != parse_event(record(properties={"jobId": "j", "id": "T"})).identity


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2000)), max_size=30), st.integers(1, 5))
def test_of_the_same_events_within_the_window_one_is_news(logged: list[tuple[str, int]], steps: int) -> None:
    events = [event(name, NOON + timedelta(minutes=minute)) for name, minute in logged]
    known, fresh = Identities(), list[BatchEvent]()
    for first in range(0, len(events), steps):
        found = known.news(events[first : first + steps])
        for minute, some in by_minute(found).items():
            known.add(minute, b"".join(one.identity for one in some))
        fresh += found
    for name in "ab":
        kept = sorted(one.at for one in fresh if one.task == name)
        assert all(later - earlier > WINDOW for earlier, later in pairwise(kept))
        for one in events:
            assert one.task != name or any(abs(one.at - at) <= WINDOW for at in kept)


def test_chunks_hold_all_their_events_and_are_of_a_size() -> None:
    events = [parse_event(record(properties={"id": "t", "details": [number] * 25_000})) for number in range(20)]
    chunks = list(chunks_of(events))
    assert 1 < len(chunks) < len(events)
    assert all(len(json.dumps(values, separators=(",", ":"))) < 310_000 for _, _, values in chunks)
    assert [one for identities, _, values in chunks for one in events_of(identities, values)] == events


def test_chunks_of_very_small_events_fit_into_properties() -> None:
    events = [replace(event("t"), job=f"{number}", pool=f"{number}", node=f"{number}", properties={})
              for number in range(7_000)]  # fmt: skip
    chunks = list(chunks_of(events))
    assert sum(len(values) for _, _, values in chunks) == 7_000
    assert all(len(part) <= 65_536 for identities, marks, _ in chunks for part in (identities, marks))


def test_all_parts_of_a_filter_must_match() -> None:
    found = parse_event(
        record("TaskFailEvent", {"jobId": "Job:1", "id": "t", "nodeInfo": {"poolId": "P", "nodeId": "n"}})
    )
    for wanted in (
        EventFilter(),
        EventFilter(
            jobs=frozenset({"JOB:1"}),
            tasks=frozenset({"T"}),
            pools=frozenset({"p"}),
            nodes=frozenset({"N"}),
            kinds=frozenset({"taskfailevent"}),
        ),
        EventFilter(since=NOON, until=NOON + timedelta(microseconds=1)),
    ):
        assert wanted.wants(found)
    for wanted in (
        EventFilter(jobs=frozenset({"Job"})),
        EventFilter(tasks=frozenset({"t2"})),
        EventFilter(pools=frozenset({"q"})),
        EventFilter(nodes=frozenset({"m"})),
        EventFilter(kinds=frozenset({"TaskStartEvent"})),
        EventFilter(until=NOON),
        EventFilter(since=NOON + timedelta(microseconds=1)),
    ):
        assert not wanted.wants(found)
    assert not EventFilter(nodes=frozenset({"n"})).wants(event("t"))


@pytest.mark.parametrize("resource", ["", "/S/BATCHACCOUNTS/DEMO", "/s/batchAccounts/demo/", "/other"])
def test_a_record_that_names_its_logs_account_or_none_is_of_it(resource: str) -> None:
    assert parse_event(record(resourceId=resource), "demo").kind == "TaskStartEvent"


@pytest.mark.parametrize("resource", ["/S/BATCHACCOUNTS/OTHER", "/s/batchAccounts/demo2/pools/p", "/batchaccounts/dem"])
def test_a_record_that_names_another_account_than_its_log_is_refused(resource: str) -> None:
    with pytest.raises(RecordError, match="Its resourceId names another account than the log that it stands in"):
        parse_event(record(resourceId=resource), "demo")


@given(st.integers(0, 7_000_000_000_000_000).map(lambda value: datetime.fromtimestamp(0, UTC) + timedelta(0, 0, value)))
def test_a_position_comes_back_as_it_was_written(at: datetime) -> None:
    position = position_of(event("t", at))
    assert Position.parse(position.text) == position
    assert position.at == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@pytest.mark.parametrize("text", ["x", "1", "-1-00", "1-0", "1-zz", "f" * 40 + "-00"])
def test_invalid_positions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Position.parse(text)


def documented() -> list[tuple[str, bytes]]:
    """Returns the documented bodies in an envelope, and lines of logs."""
    found = []
    for path in sorted(BODIES.glob("*Event*.json")):
        body = json.loads(path.read_text(encoding="utf-8"))
        found.append((path.name, record(body["operationName"], body["body"])))
    lines = [line for path in sorted(BODIES.glob("PT1H*.json")) for line in path.read_bytes().splitlines()]
    return found + [("PT1H", line) for line in lines if line.strip()]


def test_every_documented_body_is_an_event_of_its_kind() -> None:
    if not BODIES.exists():
        pytest.skip(f"there is no {BODIES}")
    seen = set()
    for name, line in documented():
        found = parse_event(line)
        seen.add(found.kind)
        assert found.kind in KINDS, name
        assert found.job or found.pool, name
        assert found.kind not in sentence_of(found), name
        assert "[left out]" not in repr(found.properties), name
    assert seen == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "properties", "sentence"),
    [
        ("PoolResizeStartEvent", {"currentDedicatedNodes": True, "targetDedicatedNodes": 5},
         "A resize of pool 'p' began: to 5 dedicated nodes."),
        ("PoolResizeStartEvent", {"currentDedicatedNodes": 1, "targetDedicatedNodes": 0.5},
         "A resize of pool 'p' began."),
        ("PoolCreateEvent", {"targetDedicatedNodes": True}, "Pool 'p' was created."),
        ("TaskFailEvent", {"executionInfo": {"exitCode": False, "retryCount": True}}, "A task failed."),
        ("TaskFailEvent", {"executionInfo": {"schedulingError": {"code": " ", "message": "  "}}}, "A task failed."),
        ("TaskFailEvent", {"executionInfo": {"schedulingError": {"code": "No.", "message": None}}},
         "A task failed: No."),
        ("PoolResizeCompleteEvent", {"currentDedicatedNodes": None, "targetDedicatedNodes": 5, "resultCode": "Success"},
         "The resize of pool 'p' ended."),
        ("PoolAutoScaleEvent", {"error": {"code": " ", "message": " "}},
         "The autoscale formula of pool 'p' was evaluated."),
        ("PoolAutoScaleEvent", {"error": {"values": [{"name": "Message", "value": "x"}]}},
         "The autoscale formula of pool 'p' failed: x."),
        ("PoolAutoScaleEvent", {"error": {"values": [{"name": "Message", "value": " "}]}},
         "The autoscale formula of pool 'p' failed."),
        ("PoolAutoScaleEvent", {"error": {"code": "NoSampleData", "message": "Few samples.", "values": [
            {"name": "Message", "value": "Line 15, Col 44: 70%."}, {"name": "A", "value": "$B"},
            {"name": "none", "value": " "}, "odd"]}},
         "The autoscale formula of pool 'p' failed: NoSampleData: Few samples (Line 15, Col 44: 70%; A: $B)."),
        ("TaskScheduleFailEvent", {"schedulingError": {"code": "BlobAccessDenied", "details": [
            {"name": "BlobSource", "value": "https://a/b"}]}},
         "A task couldn't be scheduled: BlobAccessDenied (BlobSource: https://a/b)."),
        ("PoolResizeStartEvent", {"currentDedicated": 1, "targetDedicated": 4},
         "A resize of pool 'p' began: from 1 to 4 dedicated nodes."),
        ("PoolAutoScaleEvent", {"results": "$TargetDedicatedNodes=2;"},
         "The autoscale formula of pool 'p' was evaluated: $TargetDedicatedNodes=2;."),
        ("PoolAutoScaleEvent", {"results": "All.", "error": None},
         "The autoscale formula of pool 'p' was evaluated: All."),
    ],
)  # fmt: skip
def test_empty_values_are_not_shown(kind: str, properties: dict[str, Any], sentence: str) -> None:
    place = {"poolId": "p"} if kind.startswith("Pool") else {}
    assert sentence_of(parse_event(record(kind, properties | place))) == sentence
