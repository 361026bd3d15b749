"""The measuring child as a process: start, end and signals.

Its standard input is a pipe of the supervisor's, the lifeline. The kernel signals the child when the pipe's other end
closes, so that no child outlives a supervisor that was killed.
"""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

LIFELINE = 0
"""The descriptor of the lifeline in the child: its standard input."""
_RESET = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGCHLD,
    signal.SIGPIPE,
)


class Child:
    """A child that runs `command`, whose first part is the absolute path of a program."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._pid = 0
        self._lifeline = -1

    def start(self) -> None:
        """Starts the child, with no signal blocked or ignored. Raises OSError."""
        reader, writer = os.pipe()
        try:
            self._pid = os.posix_spawn(
                self._command[0],
                list(self._command),
                dict(self._environment),
                file_actions=[(os.POSIX_SPAWN_DUP2, reader, LIFELINE)],
                setsigmask=(),
                setsigdef=_RESET,
            )
        except OSError:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        self._lifeline = writer

    def outcome(self) -> str:
        """Returns how the child ended, in a few words; empty while it runs. It is reaped then."""
        try:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            self._forget()
            return "ended unnoticed"
        if not pid:
            return ""
        self._forget()
        return _words(status)

    def send(self, signum: signal.Signals) -> None:
        """Sends a signal to the child, if it runs."""
        if self._pid:
            with suppress(OSError):
                os.kill(self._pid, signum)

    def _forget(self) -> None:
        os.close(self._lifeline)
        self._pid, self._lifeline = 0, -1


def _words(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ended by the signal {os.WTERMSIG(status)}"
    return f"ended with the exit code {os.WEXITSTATUS(status)}"


def end_with_supervisor() -> bool:
    """Has the kernel send TERM to this process when its supervisor is gone; returns False where it can't.

    The child calls it once, early. A supervisor that is gone already counts, too.
    """
    try:
        fcntl.fcntl(LIFELINE, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(LIFELINE, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(LIFELINE, fcntl.F_SETFL, fcntl.fcntl(LIFELINE, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
        is_gone = os.read(LIFELINE, 1) == b""
    except BlockingIOError:
        return True
    except (OSError, AttributeError):
        return False
    if is_gone:
        os.kill(os.getpid(), signal.SIGTERM)
    return True
