"""The kernel's log: records, overruns, garbage, and the events in it."""

import errno
import os
from pathlib import Path

import pytest

from agent.collectors.collector import UnsupportedError
from agent.events.kernel_events import KernelEvents
from agent.events.kernel_log import MAX_RECORDS, KernelLog, KernelRecord, parsed_record
from agent.events.oom_counters import OomCounters
from agent.events.state import EventState
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.tasks.identity import TaskIdentity

NOW = 1_795_000_000_000_000_000
SECOND = 1_000_000_000
OOM = (
    "Out of memory: Killed process 41 (python 3) total-vm:2048kB, anon-rss:1000kB, file-rss:20kB, shmem-rss:4kB, UID:0"
)
LIMIT = "Memory cgroup out of memory: Killed process 42 (blender) total-vm:8kB, anon-rss:4kB"
XID = "NVRM: Xid (PCI:0001:00:00): 79, pid='41', name=python, GPU has fallen off the bus."


class FakeLog:
    """A log that returns prepared records or raises prepared errors, then has nothing."""

    def __init__(self, *answers: "bytes | int") -> None:
        self.answers = list(answers)

    def read(self, size: int) -> bytes:  # noqa: ARG002 - the protocol's
        answer = self.answers.pop(0) if self.answers else errno.EAGAIN
        if isinstance(answer, int):
            raise OSError(answer, os.strerror(answer))
        return answer


def line(sequence: int, text: str, *, seconds: float = 100.0, priority: int = 4) -> bytes:
    return f"{priority},{sequence},{int(seconds * 1e6)},-;{text}\n SUBSYSTEM=pci\n".encode()


def node(root: Path, boot: str = "boot-1", uptime: str = "110.00 1\n") -> Machine:
    for path, text in (("proc/sys/kernel/random/boot_id", boot), ("proc/uptime", uptime)):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Machine(str(root))


def task_of(pid: int) -> TaskIdentity | None:
    return TaskIdentity("night", "t1") if pid == 41 else None


def collected(machine: Machine, log: FakeLog, state: EventState | None = None) -> list[Record]:
    return list(KernelEvents(machine, task_of, state, log).collect(NOW))


def test_a_record_has_its_number_time_level_and_text() -> None:
    assert parsed_record(line(7, "hello; world", seconds=1.5, priority=6)) == (
        KernelRecord(7, 1.5, 6, "hello; world"),
        True,
    )


@pytest.mark.parametrize("garbled", [b"", b"no header", b"1,2;x", b"a,b,c;x", b"1,-2,3;x", b"9" * 30 + b",1,1;x"])
def test_a_garbled_record_is_left_out(garbled: bytes) -> None:
    assert parsed_record(garbled) is None
    assert [found.sequence for found in KernelLog(FakeLog(garbled or b";", line(5, "x"))).poll()] == [5]


def test_programs_that_write_into_the_log_are_not_believed() -> None:
    log = KernelLog(FakeLog(line(1, OOM, priority=12)))
    assert log.poll() == []
    assert log.last == 1


def test_overruns_are_survived_and_what_was_lost_is_counted() -> None:
    log = KernelLog(FakeLog(line(3, "a"), errno.EPIPE, errno.EINVAL, line(9, "b")))
    assert [record.text for record in log.poll()] == ["a", "b"]
    assert (log.lost, log.last) == (5, 9)


def test_a_poll_is_bounded_and_ends_at_other_errors() -> None:
    log = KernelLog(FakeLog(*(line(number, "x") for number in range(MAX_RECORDS + 5))))
    assert (len(log.poll()), len(log.poll())) == (MAX_RECORDS, 5)
    assert KernelLog(FakeLog(*[errno.EPIPE] * 1000)).poll() == []
    assert KernelLog(FakeLog(b"")).poll() == []
    with pytest.raises(OSError, match="Input/output"):
        KernelLog(FakeLog(errno.EIO)).poll()


def test_a_file_is_read_to_its_end_without_waiting(tmp_path: Path) -> None:
    machine = node(tmp_path)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "kmsg").write_bytes(line(1, OOM))
    events = KernelEvents(machine, task_of)
    assert len(list(events.collect(NOW))) == 1
    events.spooled()
    assert (events.sequence, events.lost) == (1, 0)


def test_a_record_is_over_for_the_next_session_once_its_event_is_in_the_spool(tmp_path: Path) -> None:
    log = FakeLog(line(1, "usb"), errno.EAGAIN, line(2, OOM), line(3, "usb"), errno.EAGAIN, line(4, "usb"))
    events, found = KernelEvents(node(tmp_path), task_of, None, log), list[int]()
    for _ in range(3):
        list(events.collect(NOW))
        found.append(events.sequence)
    assert found == [1, 1, 1]
    events.spooled()
    assert events.sequence == 4


def test_a_log_that_cannot_be_read_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="log can't be read: No such file"):
        KernelEvents(Machine(str(tmp_path)), task_of)


def test_an_oom_kill_names_the_task_and_the_time(tmp_path: Path) -> None:
    (found,) = collected(node(tmp_path), FakeLog(line(1, OOM)))
    assert found.time == NOW - 10 * SECOND
    assert found.tags == {"kind": "oom_kill", "job_id": "night", "task_id": "t1"}
    assert found.fields == {
        "message": "The kernel killed process 41 (python 3) of task t1, because the node ran out of memory.",
        "pid": 41, "process": "python 3", "is_cgroup_limit": False, "memory_bytes": 1_048_576,
        "virtual_bytes": 2_097_152, "log_record_uid": "boot-1-1",
    }  # fmt: skip


def test_an_oom_kill_by_a_limit_or_of_an_old_kernel_is_recognized(tmp_path: Path) -> None:
    limit, old = collected(node(tmp_path), FakeLog(line(1, LIMIT), line(2, "Killed process 9 (a) total-vm:1kB")))
    assert limit.fields["message"] == "The kernel killed process 42 (blender), because its memory limit was reached."
    assert (limit.fields["is_cgroup_limit"], old.fields["pid"], old.fields["is_cgroup_limit"]) == (True, 9, False)


def test_an_old_kernel_names_the_reason_of_a_kill_in_the_record_before(tmp_path: Path) -> None:
    killed = "Killed process 9 (stress) total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB"
    log = FakeLog(
        line(1, "Memory cgroup out of memory: Kill process 9 (stress) score 987 or sacrifice child"), line(2, killed),
        line(3, "Out of memory: Kill process 9 (stress) score 987 or sacrifice child"), line(4, killed),
    )  # fmt: skip
    assert [event.fields["is_cgroup_limit"] for event in collected(node(tmp_path), log)] == [True, False]


@pytest.mark.parametrize("name", ["a) b", "x) (y", "a, b", "((sd-pam))"])
def test_the_name_of_a_killed_process_may_hold_brackets(tmp_path: Path, name: str) -> None:
    text = f"Memory cgroup out of memory: Killed process 7 ({name}) total-vm:8kB, anon-rss:4kB, UID:0 oom_score_adj:0"
    (found,) = collected(node(tmp_path), FakeLog(line(1, text)))
    assert found.fields["process"] == name


def test_equal_xids_of_a_poll_are_one_event_with_their_count(tmp_path: Path) -> None:
    lines = [line(number, XID) for number in range(1, 4)]
    other = line(9, "NVRM: Xid (PCI:0001:00:00): 999, Ch 00000010")
    falls, unknown = collected(node(tmp_path), FakeLog(*lines, other))
    assert falls.tags == {"kind": "gpu_xid", "job_id": "night", "task_id": "t1"}
    assert falls.fields == {
        "message": "GPU 0001:00:00 reports Xid 79: the GPU has fallen off the bus.",
        "xid": 79, "device": "0001:00:00", "count": 3, "log_record_uid": "boot-1-1", "pid": 41,
    }  # fmt: skip
    assert "see NVIDIA's list" in str(unknown.fields["message"])


def test_an_xid_of_a_mig_instance_names_its_gpu(tmp_path: Path) -> None:
    text = "NVRM: Xid (PCI:0000:01:00 GPU-I:05{}): 94, pid=41, Contained: CE User Channel (0x9). RST: No, D-RST: No"
    found = collected(node(tmp_path), FakeLog(line(1, text.format("")), line(2, text.format(" GPU-CI:02"))))
    assert [(event.fields["xid"], event.fields["device"], event.fields["count"]) for event in found] == [
        (94, "0000:01:00", 2)
    ]


def test_without_a_state_the_last_minute_is_looked_at(tmp_path: Path) -> None:
    log = FakeLog(line(1, OOM, seconds=40), line(2, OOM, seconds=60))
    assert [found.time for found in collected(node(tmp_path), log)] == [NOW - 50 * SECOND]


def test_with_a_state_of_the_same_kernel_it_continues_behind_it(tmp_path: Path) -> None:
    log = FakeLog(line(1, OOM, seconds=1), line(2, OOM, seconds=2))
    assert len(collected(node(tmp_path), log, EventState("boot-1", 1))) == 1


def test_a_record_that_two_sessions_read_has_the_same_time_and_id(tmp_path: Path) -> None:
    machine, texts = node(tmp_path), (OOM, XID)
    first = KernelEvents(machine, task_of, None, FakeLog(*(line(5 + n, text) for n, text in enumerate(texts))))
    seen = list(first.collect(NOW))
    state = EventState("boot-1", 4, NOW, first.started)
    second = KernelEvents(machine, lambda _: None, state, FakeLog(*(line(5 + n, text) for n, text in enumerate(texts))))
    again = list(second.collect(NOW + SECOND // 100))
    assert [event.time for event in again] == [event.time for event in seen]
    assert [event.fields["log_record_uid"] for event in again] == ["boot-1-5", "boot-1-6"]
    assert [event.fields["log_record_uid"] for event in seen] == ["boot-1-5", "boot-1-6"]


def test_a_corrected_clock_counts_for_the_times_of_records(tmp_path: Path) -> None:
    state = EventState("boot-1", 4, NOW, NOW - 500 * SECOND)
    (found,) = collected(node(tmp_path), FakeLog(line(5, OOM)), state)
    assert found.time == NOW - 10 * SECOND


def test_after_a_restart_the_whole_log_is_new(tmp_path: Path) -> None:
    log = FakeLog(line(1, OOM, seconds=1), line(2, OOM, seconds=2))
    assert len(collected(node(tmp_path), log, EventState("boot-0", 500))) == 2


def test_times_never_lie_ahead(tmp_path: Path) -> None:
    (found,) = collected(node(tmp_path, uptime="garbage"), FakeLog(line(1, OOM)))
    assert found.time == NOW


def counters(root: Path, text: str) -> Machine:
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc" / "vmstat").write_text(text)
    return Machine(str(root))


def test_counters_stand_in_where_the_log_cannot_be_read(tmp_path: Path) -> None:
    one = OomCounters(counters(tmp_path, "pgfault 5\noom_kill 3\n"))
    assert list(one.collect(NOW)) == []
    counters(tmp_path, "oom_kill 5\n")
    (found,) = one.collect(NOW)
    assert found.tags == {"kind": "oom_kill"}
    assert found.fields["count"] == 2
    assert "killed 2 processes" in str(found.fields["message"])


def test_garbled_counters_yield_nothing(tmp_path: Path) -> None:
    one = OomCounters(counters(tmp_path, "oom_kill 3\n"))
    for text in ("oom_kill x\n", "oom_kill 9\n", "oom_kill 2\n"):
        counters(tmp_path, text)
        assert list(one.collect(NOW)) == []


def test_a_kernel_without_the_counter_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="doesn't count OOM kills"):
        OomCounters(counters(tmp_path, "pgfault 5\n"))
