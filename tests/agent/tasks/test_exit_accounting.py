"""Exit accounting by messages of the test's own."""

import errno
import struct

import pytest

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.tasks.exit_accounting import ExitAccounting, exit_of, stats_of
from agent.tasks.exited_processes import MAX_PENDING, Exit, ExitedProcesses

FAMILY = 27


class FakeSocket:
    """Answers like the kernel; an OSError in its list is raised."""

    def __init__(self, *answers: bytes | OSError) -> None:
        self.answers = list(answers)
        self.sent: list[bytes] = []
        self.is_closed = False

    def send(self, content: bytes) -> None:
        self.sent.append(content)

    def recv(self, size: int) -> bytes:  # noqa: ARG002 - the socket's own signature
        answer = self.answers.pop(0) if self.answers else BlockingIOError()
        if isinstance(answer, OSError):
            raise answer
        return answer

    def setblocking(self, flag: bool) -> None:  # noqa: FBT001 - the socket's own signature
        assert not flag

    def close(self) -> None:
        self.is_closed = True


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind: int, content: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(content), kind, 0, 1, 0) + content


def stats(version: int = 13, *, thread: int = 9, process: int = 9, parent: int = 5) -> bytes:
    found = bytearray(400)
    struct.pack_into("=H", found, 0, version)
    struct.pack_into("=Q", found, 72, 8_000_000)
    struct.pack_into("=II", found, 128, thread, parent)
    struct.pack_into("=QQ", found, 152, 3000, 1000)
    struct.pack_into("=Q", found, 200, 2048)
    struct.pack_into("=QQ", found, 248, 70, 80)
    struct.pack_into("=I", found, 368, process)
    return bytes(found)


def exited(content: bytes) -> bytes:
    return message(FAMILY, b"\2\1\0\0" + attribute(4, attribute(1, b"\11\0\0\0") + attribute(3, content)))


FOUND = message(16, b"\1\2\0\0" + attribute(2, b"TASKSTATS\0") + attribute(1, struct.pack("=H", FAMILY)))
AGREED = message(2, struct.pack("=i", 0) + bytes(16))
REFUSED = message(2, struct.pack("=i", -errno.EPERM) + bytes(16))


def listening(*answers: bytes | OSError) -> ExitAccounting:
    fake = FakeSocket(FOUND, AGREED, *answers)
    return ExitAccounting(Machine("/nonexistent", is_root=True), lambda: fake)  # type: ignore[arg-type,return-value]


def test_a_threads_record_is_its_exact_time_peak_and_io() -> None:
    assert listening(exited(stats())).records() == [Exit(9, 5, 8000, 6000, 2 << 20, 70, 80)]


def test_threads_are_summed_by_process_until_it_has_ended() -> None:
    processes = ExitedProcesses()
    processes.add(listening(exited(stats(thread=10)), exited(stats())).records())
    assert processes.unseen({9: None}) == {}  # type: ignore[dict-item]
    assert processes.take(9) == Exit(9, 5, 16000, 12000, 2 << 20, 140, 160)
    assert processes.take(9) is None


def test_old_kernels_dont_name_the_process_of_a_thread() -> None:
    accounting = listening(exited(stats(9, thread=10)))
    assert [one.pid for one in accounting.records()] == [10]
    assert (accounting.names_processes, accounting.is_exact) == (False, False)


def test_layouts_that_differ_are_left_out() -> None:
    assert exit_of((15, stats(15))) is None
    assert exit_of((7, stats(7))) is None


def test_lost_messages_are_counted() -> None:
    accounting = listening(OSError(errno.ENOBUFS, "full"), exited(stats()))
    assert len(accounting.records()) == 1
    assert (accounting.lost, accounting.is_exact) == (1, False)
    assert accounting.records() == []
    assert accounting.is_exact


@pytest.mark.parametrize("content", [b"", b"\1", exited(stats())[:100], exited(b"\0" * 20), message(FAMILY, b"\2")])
def test_garbled_messages_hold_no_record(content: bytes) -> None:
    assert list(stats_of(content)) == []


@pytest.mark.parametrize("answers", [(REFUSED,), (FOUND, REFUSED), (b"",), (message(16, b""),), (OSError("none"),)])
def test_a_kernel_that_refuses_is_named(answers: tuple[bytes | OSError, ...]) -> None:
    fake = FakeSocket(*answers)
    with pytest.raises(UnsupportedError, match="reports no ends"):
        ExitAccounting(Machine("/nonexistent", is_root=True), lambda: fake)  # type: ignore[arg-type,return-value]
    assert fake.is_closed


def test_other_users_have_no_exit_accounting() -> None:
    with pytest.raises(UnsupportedError, match="needs root"):
        ExitAccounting(Machine("/nonexistent", is_root=False))


def test_a_flood_of_exits_is_bounded() -> None:
    processes = ExitedProcesses()
    processes.add(Exit(pid, 1, 1, 1, 1, 1, 1) for pid in range(MAX_PENDING + 5))
    assert processes.take(4) is None
    assert processes.take(5) is not None
