"""Signals as a queue: they wait until the supervisor takes them, so that none interrupts it."""

from __future__ import annotations

import signal
from collections.abc import Callable

from agent.supervision.states import REQUESTS

_QUEUED = frozenset((*REQUESTS, signal.SIGCHLD))


class SignalQueue:
    """Queues requests to end and deaths of children, within a `with` statement."""

    def __enter__(self) -> Callable[[float], signal.Signals | None]:
        """Begins to queue and returns the function that takes the next one."""
        # an inherited "ignore" would discard the child's death, and reap the child, too
        self._handlers = {signum: signal.signal(signum, _ignored) for signum in _QUEUED}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _QUEUED)
        return _next

    def __exit__(self, *_error: object) -> None:
        while _next(0.0) is not None:
            pass
        for signum, handler in self._handlers.items():
            signal.signal(signum, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def _next(timeout: float) -> signal.Signals | None:
    """Returns the next signal, None if none comes within `timeout` seconds."""
    found = signal.sigtimedwait(_QUEUED, max(timeout, 0.0))
    return signal.Signals(found.si_signo) if found else None


def _ignored(_signum: int, _frame: object) -> None:
    """Stands for a handler; signals are taken from the queue instead."""
