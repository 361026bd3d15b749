"""Processes that are the first of a pid namespace, as a container's are: each finds that its number is 1."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def first_of_namespace[T](start: Callable[[], T]) -> T:
    """Returns what `start` returns; the process that it starts is the first of a new namespace. Raises OSError.

    It runs in a thread of its own, as a thread starts processes in one namespace only from then on.
    """

    def begin() -> T:
        os.unshare(os.CLONE_NEWPID)
        return start()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(begin).result()


def are_permitted() -> bool:
    """Returns whether this process may make pid namespaces."""
    try:
        first_of_namespace(lambda: None)
    except OSError:
        return False
    return True
