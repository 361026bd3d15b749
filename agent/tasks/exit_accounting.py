"""Exit accounting: the use of each process, which the kernel reports when it ends (taskstats by generic netlink).

Only root may listen, in the node's own namespaces. Layouts before version 12 don't name the process of a thread, so
their records serve for first threads only; version 15 has another layout and isn't read.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.tasks.exited_processes import Exit

MAX_MESSAGES = 20_000
"""Messages that are read at once; a node that ends more processes in one interval loses the rest, counted."""
_NETLINK_GENERIC, _BUFFER_FORCE = 16, 33  # SO_RCVBUFFORCE, for which Python has no name
_BUFFER = 8 << 20
_REQUEST, _ACK, _ERROR = 1, 4, 2
_CONTROL, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 16, 3, 1, 2
_GET, _NEW, _REGISTER = 1, 2, 3
_OF_PID, _PID, _STATS = 4, 1, 3
_HEADER, _GENERIC, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBH"), struct.Struct("=HH")
_WITH_PROCESS, _UNREADABLE, _MIN_VERSION = 12, 15, 8
_MIN_SIZE, _MIN_SIZE_WITH_PROCESS = 264, 372
_TIMEOUT = 2.0  # seconds


def netlink_socket() -> socket.socket:
    """Returns a socket for generic netlink. Raises OSError."""
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
    opened.settimeout(_TIMEOUT)
    with suppress(OSError):  # a smaller buffer serves, too
        opened.setsockopt(socket.SOL_SOCKET, _BUFFER_FORCE, _BUFFER)
    return opened


class ExitAccounting:
    """Listens to the ends of threads. Raises UnsupportedError where the kernel doesn't report them to this user.

    `names_processes` is false where records of later threads look like processes, `is_exact` where this is so
    or the last call found that messages were lost.
    """

    def __init__(self, machine: Machine, opened: Callable[[], socket.socket] = netlink_socket) -> None:
        if not machine.is_root:
            raise UnsupportedError("Exit accounting needs root.")
        self.lost = 0
        self.is_exact = True
        self.names_processes = True
        try:
            self._socket = opened()
        except OSError as error:
            raise UnsupportedError(f"This kernel has no generic netlink: {error}.") from error
        try:
            self._register(machine.optional_text("/sys/devices/system/cpu/possible") or "0")
        except (OSError, ValueError, struct.error) as error:
            self._socket.close()
            raise UnsupportedError(f"This kernel reports no ends of processes: {error}.") from error

    def records(self) -> list[Exit]:
        """Returns the records of threads that ended since the last call."""
        found: list[Exit] = []
        self.is_exact = True
        for _ in range(MAX_MESSAGES):
            content = self._received()
            if content is None:
                self.is_exact = self.is_exact and self.names_processes
                return found
            for stats in stats_of(content):
                record = exit_of(stats)
                self.names_processes = self.names_processes and stats[0] >= _WITH_PROCESS
                found.extend([record] if record else [])
        self.is_exact = False
        return found

    def close(self) -> None:
        self._socket.close()

    def _register(self, cpus: str) -> None:
        """Asks for reports from all processors, and waits for the kernel's answer."""
        self._send(_CONTROL, _GET_FAMILY, _attribute(_FAMILY_NAME, b"TASKSTATS\0"))
        attributes = dict(_attributes(_answer(self._socket.recv(65536))))
        (family,) = struct.unpack_from("=H", attributes.get(_FAMILY_ID, b""))
        self._send(family, _GET, _attribute(_REGISTER, cpus.encode("ascii") + b"\0"))
        _answer(self._socket.recv(65536))
        self._socket.setblocking(False)

    def _send(self, family: int, command: int, attribute: bytes) -> None:
        content = _GENERIC.pack(command, 1, 0) + attribute
        self._socket.send(
            _HEADER.pack(_HEADER.size + len(content), family, _REQUEST | _ACK * (family != _CONTROL), 1, 0) + content
        )

    def _received(self) -> bytes | None:
        """Returns the next message, None where there is none; the kernel reports here that it dropped some."""
        try:
            return self._socket.recv(65536)
        except BlockingIOError:
            return None
        except OSError:  # ENOBUFS
            self.lost += 1
            self.is_exact = False
            return b""


def stats_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Returns version and bytes of each thread's record in a message, without malformed ones."""
    for kind, message in _messages(content):
        if kind > _CONTROL and message[:1] == bytes([_NEW]):
            for attribute, value in _attributes(message[_GENERIC.size :]):
                stats = dict(_attributes(value)).get(_STATS, b"") if attribute == _OF_PID else b""
                if len(stats) >= _MIN_SIZE:
                    yield struct.unpack_from("=H", stats)[0], stats


def exit_of(versioned: tuple[int, bytes]) -> Exit | None:
    """Returns the use of a thread, None if the layout of its record is unknown.

    The total is the scheduler's exact time if the kernel has it; its parts in user and system mode are sampled.
    """
    version, stats = versioned
    if version < _MIN_VERSION or version == _UNREADABLE:
        return None
    (exact,) = struct.unpack_from("=Q", stats, 72)
    thread, parent = struct.unpack_from("=II", stats, 128)
    user, system = struct.unpack_from("=QQ", stats, 152)
    (peak,) = struct.unpack_from("=Q", stats, 200)
    read, written = struct.unpack_from("=QQ", stats, 248)
    has_process = version >= _WITH_PROCESS and len(stats) >= _MIN_SIZE_WITH_PROCESS
    process = struct.unpack_from("=I", stats, 368)[0] if has_process else thread
    cpu = exact // 1000 or user + system
    share = user / (user + system) if user + system else 1.0
    return Exit(process, parent, cpu, int(cpu * share), peak * 1024, read, written)


def _answer(content: bytes) -> bytes:
    """Returns the attributes of an answer. Raises OSError where it is a refusal."""
    for kind, message in _messages(content):
        if kind == _ERROR:
            (code,) = struct.unpack_from("=i", message)
            if code:
                raise OSError(-code, "refused")
        return message[_GENERIC.size :]
    raise ValueError("an empty answer")


def _messages(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Returns kind and content of each netlink message."""
    at = 0
    while at + _HEADER.size <= len(content):
        size, kind = _HEADER.unpack_from(content, at)[:2]
        if size < _HEADER.size or at + size > len(content):
            return
        yield kind, content[at + _HEADER.size : at + size]
        at += size + 3 & ~3


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Returns kind and value of each attribute."""
    at = 0
    while at + _ATTRIBUTE.size <= len(content):
        size, kind = _ATTRIBUTE.unpack_from(content, at)
        if size < _ATTRIBUTE.size or at + size > len(content):
            return
        yield kind & 0x3FFF, content[at + _ATTRIBUTE.size : at + size]
        at += size + 3 & ~3


def _attribute(kind: int, value: bytes) -> bytes:
    size = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(size, kind) + value + bytes(-size % 4)
