"""Requests to end as a readable descriptor, so that a program can wait for them and for input at once."""

from __future__ import annotations

import os
import signal

_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Makes `descriptor` readable at INT, TERM or HUP, within a `with` statement of the main thread."""

    def __enter__(self) -> int:
        """Returns the descriptor."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._handlers = {signum: signal.signal(signum, _noted) for signum in _REQUESTS}
        return self._reader

    def __exit__(self, *_error: object) -> None:
        for signum, handler in self._handlers.items():
            signal.signal(signum, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(self._before)
        os.close(self._reader)
        os.close(self._writer)


def _noted(_signum: int, _frame: object) -> None:
    """Stands for a handler; the interpreter writes to the descriptor."""
