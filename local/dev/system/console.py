"""What a person at the terminal sees: progress lines, and one plain sentence when something is missing.

Printing never fails: a closed terminal must not keep the stack from being stopped.
"""

import contextlib
import sys
import time
from collections.abc import Iterator


class Failure(Exception):
    """An expected failure. Its text is one sentence that says what is wrong and, where possible, what to do."""


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
    """A progress line: the title at once, the seconds taken when it is done."""
    begun = time.monotonic()
    say(f"  {title} ... ", end="")
    try:
        yield
    except BaseException:
        say("failed" if sys.exception().__class__ is Failure else "stopped")
        raise
    say(f"{time.monotonic() - begun:.1f} s")
