"""Records of the agent that report an event become events: whose they are, bounded, and without secrets."""

from datetime import timedelta

from msgspec.structs import replace

from shared.domain.core.stamps import EPOCH
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_sentences import sentence_of
from shared.domain.redaction.redaction import MARK
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.sessions.event_records import MAX_EVENTS, event_of
from shared.domain.telemetry.sessions.sessions import MAX_TASKS
from tests.domain.support.bounded import quick
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, at, intake, step, taken, variable

NODE = Identity("Pool", "Node")
KILL = (
    'batchscope_event,kind=oom_kill,job_id=j,task_id=t,task_attempt=7 message="The kernel killed process 5 (python).",'
    "pid=5i,is_cgroup_limit=true,memory_bytes=1024i"
)
DISK = 'batchscope_event,kind=disk_full message="The file system / is nearly full: 5 MiB are left.",path="/"'


def events_of(*lines: Metric, whose: Identity = NODE) -> list[BatchEvent]:
    return intake(whose).take(step(lines)).events


def event(kind: str = "disk_full", /, **fields: Value) -> BatchEvent:
    return event_of(Metric("batchscope_event", {"kind": kind}, fields, BEGIN), BEGIN, NODE)


def test_an_event_has_the_agents_sentence_its_fields_and_the_time_and_node_of_its_record() -> None:
    kill, disk = events_of(at(1.5, KILL), at(2, "mem used=1"), at(3, DISK))
    assert (kill.kind, kill.pool, kill.node, kill.job, kill.task) == ("node.oom_kill", "Pool", "Node", "j", "t")
    assert kill.at == EPOCH + timedelta(microseconds=BEGIN // 1000) + timedelta(seconds=1.5)
    assert sentence_of(kill) == kill.properties["message"] == "The kernel killed process 5 (python)."
    assert {"pid": 5, "is_cgroup_limit": True, "memory_bytes": 1024}.items() <= kill.properties.items()
    assert (disk.kind, disk.job, disk.task, disk.properties["path"]) == ("node.disk_full", None, None, "/")


def test_only_tags_of_the_event_name_its_task_not_the_task_that_started_the_agent() -> None:
    opening = [variable("AZ_BATCH_POOL_ID", "p"), variable("AZ_BATCH_NODE_ID", "n"), variable("AZ_BATCH_JOB_ID", "j"),
               variable("AZ_BATCH_TASK_ID", "starter")]  # fmt: skip
    (disk,) = events_of(*opening, at(1, DISK), whose=Identity())
    assert (disk.pool, disk.node, disk.job, disk.task) == ("p", "n", None, None)


def test_an_event_of_a_task_is_kept_where_the_blob_has_no_room_for_its_measurements() -> None:
    busy = [at(0, f"mem,job_id=j,task_id=other{number} used=1") for number in range(MAX_TASKS)]
    found = intake(NODE).take(step([*busy, at(1, "mem,job_id=j,task_id=t,task_attempt=7 used=1"), at(2, KILL)]))
    assert [(event.kind, event.node, event.job, event.task) for event in found.events] == [
        ("node.oom_kill", "Node", "j", "t"),
    ]
    assert found.dropped.of_too_many_tasks == 1


def test_the_identity_is_that_of_the_event_wherever_it_is_read() -> None:
    first, again = (
        events_of(at(1, KILL))[0],
        events_of(at(0, "mem used=1"), at(1, KILL), whose=Identity("pool", "NODE")),
    )
    assert first.identity == again[0].identity
    others = [
        *events_of(at(1, KILL), whose=Identity("Pool", "other")),
        *events_of(at(1, KILL), whose=Identity("other", "Node")),
        *events_of(
            at(1.000001, KILL), at(1, KILL.replace("oom_kill", "gpu_xid")), at(1, KILL.replace("pid=5i", "pid=6i"))
        ),
        *events_of(at(1, DISK)),
    ]
    assert len({first.identity, *(one.identity for one in others)}) == 1 + len(others)


def test_one_record_of_a_log_is_one_event_with_or_without_its_task() -> None:
    seen = KILL.replace("pid=5i", 'pid=5i,log_record_uid="boot-7"')
    again = seen.replace("job_id=j,task_id=t,task_attempt=7", "host=n").replace("(python)", "(unknown)")
    first, second, third = events_of(at(1, seen), at(1.01, again), at(1, seen.replace("boot-7", "boot-8")))
    assert first.identity == second.identity != third.identity
    assert "log_record_uid" not in first.properties


def test_events_of_an_unknown_node_or_at_no_accepted_time_are_counted_and_left_out() -> None:
    assert not (unknown := taken(at(1, DISK))).events
    assert unknown.dropped.unread_fields == 2
    found = intake(NODE).take(step([replace(at(1, DISK), time=None), replace(at(1, DISK), time=5), at(1, DISK)]))
    assert len(found.events) == 1
    assert (found.dropped.without_time, found.dropped.out_of_window) == (1, 1)


def test_a_step_has_a_bounded_number_of_events_and_counts_the_others() -> None:
    lines = [at(number, DISK) for number in range(MAX_EVENTS + 5)]
    found = intake(NODE).take(step(lines))
    assert (len(found.events), found.dropped.beyond_limit) == (MAX_EVENTS, 5)


def test_a_kind_that_is_no_plain_word_is_unknown_and_a_new_one_is_kept() -> None:
    assert event("fan_failure").kind == "node.fan_failure"
    for kind in ("", "Oom", "a b", "x" * 65, "<b>", "sk_live_51hxqy2kabcdefghijklmnopqrst"):
        assert event(kind).kind == "node.unknown"


def test_texts_are_stored_without_secrets_and_within_bounds() -> None:
    secret = "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    found = event(message=f"It mounts {secret} now.", path=f"/mnt?{secret}", password="swordfish", pid=1)
    stored = str(found.properties)
    assert "Eby8vdM02" not in stored
    assert "swordfish" not in stored
    assert MARK in found.properties["message"]
    assert found.properties["pid"] == 1
    long_name: dict[str, Value] = {"n" * 65: 1}
    long = event(message="word " * 1000, path="p" * 257, big=1 << 63, small=-(1 << 63), **long_name)
    assert len(long.properties["message"]) <= 500
    assert long.properties.keys() == {"message", "small"}
    numbers: dict[str, Value] = {f"field{number}": number for number in range(100)}
    many = event("disk_full", message="m", **numbers)
    assert len(many.properties) == 13
    assert sentence_of(event(pid=5)) == "The agent of node 'Node' reported node.disk_full."


def test_a_number_as_the_message_is_a_field_like_any_other() -> None:
    assert event(message=5).properties == {}
    assert event(message="m", rate=float("nan")).properties.keys() == {"message", "rate"}


def test_many_events_with_the_longest_texts_take_bounded_time() -> None:
    fields = {f"f{number:02}": "password: " * 25 for number in range(20)}
    one = Metric("batchscope_event", {"kind": "disk_full"}, {"message": "token = a " * 10_000, **fields}, BEGIN)
    with quick(20, "200 events of the largest size"):
        found = intake(NODE).take(step(replace(one, time=BEGIN + number * SECOND) for number in range(5_000)))
    assert len(found.events) == MAX_EVENTS
    assert found.dropped.beyond_limit == 5_000 - MAX_EVENTS
