"""Decisions of the supervisor: events and times in, actions out.

A dead child is started again after a second. Two deaths within half a minute mean a defect that a restart doesn't cure,
so that the supervisor then waits five minutes. A request to end is passed on, and the child gets time for a last flush.
"""

from __future__ import annotations

import signal
from typing import NamedTuple, Union

RESTART_DELAY = 1.0
"""Seconds from a death to the restart."""
DEATH_WINDOW, LONG_DELAY = 30.0, 300.0
"""Seconds within which two deaths lead to the long delay, and its seconds."""
FLUSH_GRACE = 25.0
"""Seconds that a child has to end after INT, TERM or HUP; an older agent is killed after 30 or 35."""
QUIT_GRACE = 3.0
"""Seconds that a child has to end after QUIT."""
REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that ask the supervisor to end."""


class Start(NamedTuple):
    """The child is due to be started."""


class Pass(NamedTuple):
    """The child is to get a signal."""

    signal: signal.Signals


Action = Union[Start, Pass]


class Supervision:
    """The state of a supervised child; times are seconds of any clock that only grows.

    The caller reports each event by one of the methods and carries out the actions that they return, in their order.
    """

    def __init__(self, now: float) -> None:
        self.started: float | None = None
        """When the running child was started, None while there is none."""
        self._start_due = now
        self._last_death: float | None = None
        self._kill_due: float | None = None
        self._is_ending = False

    @property
    def is_over(self) -> bool:
        """Whether the supervisor may end: it was asked to, and the child is gone."""
        return self._is_ending and self.started is None

    def passed(self, now: float) -> list[Action]:
        """Returns the actions that are due at a time."""
        if self.started is None and not self._is_ending and self._start_due <= now:
            self.started = now
            return [Start()]
        if self.started is not None and self._kill_due is not None and self._kill_due <= now:
            self._kill_due = None
            return [Pass(signal.SIGKILL)]
        return []

    def died(self, now: float) -> None:
        """Takes notice that the child ended, on its own or not, or couldn't be started."""
        self.started = None
        self._kill_due = None
        is_repeated = self._last_death is not None and now - self._last_death <= DEATH_WINDOW
        self._start_due = now + (LONG_DELAY if is_repeated else RESTART_DELAY)
        self._last_death = now

    def asked(self, signum: signal.Signals, now: float) -> list[Action]:
        """Returns the actions after a request to end; each is passed on, and none prolongs the time to end."""
        self._is_ending = True
        if self.started is None:
            return []
        due = now + (QUIT_GRACE if signum == signal.SIGQUIT else FLUSH_GRACE)
        self._kill_due = due if self._kill_due is None else min(self._kill_due, due)
        # QUIT would have Python's process write its memory, secrets included, to a file
        return [Pass(signal.SIGTERM if signum == signal.SIGQUIT else signum)]

    def wake(self) -> float | None:
        """Returns when something is due next, None if only an event can change anything."""
        if self.started is not None:
            return self._kill_due
        return None if self._is_ending else self._start_due
