"""The handover from older agents to this one: they are asked with growing insistence to end.

The agent of the same task is replaced quickly. Agents of other tasks get the time that a last flush may take.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from agent.supervision.instances import Instance

SAME_TASK = ((0.0, signal.SIGINT), (10.0, signal.SIGKILL))
"""Signals to an older agent of the same task, each with the seconds since the signal before it."""
OTHER_TASK = ((0.0, signal.SIGINT), (30.0, signal.SIGQUIT), (5.0, signal.SIGKILL))


class Request(NamedTuple):
    """A signal that an older agent is to get."""

    instance: Instance
    signal: signal.Signals


class _Pending(NamedTuple):
    """An older agent, the signals that are left for it, and when the first of them is due."""

    instance: Instance
    steps: Sequence[tuple[float, signal.Signals]]
    due: float


class Handover:
    """Decides which signals older agents get, in seconds of any clock that only grows."""

    def __init__(self) -> None:
        self._pending: list[_Pending] = []
        self._known: set[tuple[int, int]] = set()

    def add(self, own: Instance, running: Iterable[Instance], now: float) -> None:
        """Adds the agents before `own`, each once. Newer ones are never signalled: they end this one."""
        found = [one for one in running if one.age < own.age and one.age not in self._known]
        self._known.update(one.age for one in found)
        self._pending += [_Pending(one, SAME_TASK if one.task == own.task else OTHER_TASK, now) for one in found]

    def requests(self, now: float, is_running: Callable[[Instance], bool]) -> list[Request]:
        """Returns the signals that are due, at most one for each agent; agents that ended get none."""
        self._pending = [one for one in self._pending if is_running(one.instance)]
        due = [one for one in self._pending if one.due <= now]
        self._pending = [left for one in self._pending for left in _after(one, now)]
        return [Request(one.instance, one.steps[0][1]) for one in due]

    def wake(self) -> float | None:
        """Returns when the next signal is due, None if none is left."""
        return min((one.due for one in self._pending), default=None)


def _after(one: _Pending, now: float) -> list[_Pending]:
    """Returns an agent's signals after the present ones; none after the last."""
    if one.due > now:
        return [one]
    steps = one.steps[1:]
    return [_Pending(one.instance, steps, now + steps[0][0])] if steps else []


def send(request: Request, is_running: Callable[[Instance], bool]) -> bool:
    """Sends a signal to the very process of an instance; returns False if it ended or belongs to another user.

    Where the kernel and Python have process handles, its number can't pass to another process meanwhile.
    """
    try:
        with _ProcessHandle(request.instance.pid) as handle:
            if not is_running(request.instance):
                return False
            handle.send(request.signal)
    except OSError:
        return False
    return True


class _ProcessHandle:
    """A process by a handle of the kernel's (Linux 5.3, Python 3.9), else by its number."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._handle = -1

    def __enter__(self) -> _ProcessHandle:  # noqa: PYI034 - Self is younger than Python 3.8
        opened = getattr(os, "pidfd_open", None)
        if opened and hasattr(signal, "pidfd_send_signal"):
            with suppress(OSError):
                self._handle = opened(self._pid)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def send(self, signum: signal.Signals) -> None:
        """Sends a signal. Raises OSError."""
        if self._handle >= 0:
            signal.pidfd_send_signal(self._handle, signum)
        else:
            os.kill(self._pid, signum)
