"""The start of the agent in the background: it returns at once and never fails the task that it stands in."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from agent.machine.machine import Machine
from agent.machine.process_name import take_name

_STANDARD = (0, 1, 2)
_MAX_GUESSED = 4096  # descriptors that are closed where /proc doesn't list them
_RESET = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)


def start_in_background(run: Callable[[], None], machine: Machine, warn: Callable[[str], None]) -> int:
    """Runs `run` in a process of its own, which outlives this one, and returns 0, the exit code, in any case.

    The process has its own session, the root as its folder, files for this user only, no descriptors but an empty
    standard input, and discards its output until `run` redirects it. A failure is one sentence to `warn`.
    """
    try:
        child = os.fork()
        if child == 0:
            _leave(run, machine)
        os.waitpid(child, 0)
    except BaseException as error:  # an interrupt, too: the task continues without the agent
        with suppress(Exception):
            warn(f"The agent wasn't started, so that this node isn't measured: {error or type(error).__name__}.")
    return 0


def warn_on_stderr(sentence: str) -> None:
    """Writes a sentence to standard error; a closed one is no error."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"batchscope-agent: {' '.join(sentence.split())}\n")
        sys.stderr.flush()


def _leave(run: Callable[[], None], machine: Machine) -> None:
    """Runs `run` in a grandchild that is no session's leader, and ends this process without returning.

    The grandchild bears the agent's name from the first: it is the only thing that shows whose it is while it runs.
    """
    code = 1
    try:
        os.setsid()
        take_name(machine)
        if os.fork() == 0:
            _detach(machine)
            run()
        code = 0
    except BaseException as error:  # nothing may run on into the code of the task's process
        with suppress(Exception):
            os.write(2, f"The agent ended: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(code)


def _detach(machine: Machine) -> None:
    """Replaces the inherited state of this process: folder, mask of files, signals, descriptors."""
    os.chdir("/")
    os.umask(0o077)
    for signum in _RESET:
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for descriptor in _inherited(machine):
        with suppress(OSError):
            os.close(descriptor)
    empty = os.open(os.devnull, os.O_RDWR)
    for descriptor in _STANDARD:
        os.dup2(empty, descriptor, inheritable=True)
    if empty not in _STANDARD:
        os.close(empty)


def _inherited(machine: Machine) -> list[int]:
    """Returns the open descriptors, which would keep the task's pipes open."""
    listed = [int(name) for name in machine.names("/proc/self/fd") if name.isdigit()]
    return listed or list(range(_MAX_GUESSED))
