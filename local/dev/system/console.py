"""Output for the user at the terminal: progress lines, and one plain sentence when something is missing.

Printing never fails: a closed terminal must not keep the stack from being stopped.
"""

import contextlib
import sys
import time
from collections.abc import Iterator


class Failure(Exception):
    """An expected failure. Its text is one sentence that states the problem and, where possible, the remedy."""


class StopRequested(Exception):
    """Ctrl-C, SIGTERM or SIGHUP arrived."""


def say(text: str = "", *, end: str = "\n") -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, end=end, flush=True)


def complain(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Prints a progress line: the title immediately, the elapsed seconds at the end."""
    begun = time.monotonic()
    say(f"  {title} ... ", end="")
    try:
        yield
    except BaseException:
        say("failed" if sys.exception().__class__ is Failure else "stopped")
        raise
    say(f"{time.monotonic() - begun:.1f} s")
