"""Notes what is stored and can't be read while an answer is put together from the rest."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import CacheConflictError, UnreadableError


class Unread:
    """What is stored and can't be read, a sentence each: the answer comes from the rest."""

    def __init__(self) -> None:
        self.told: dict[str, None] = {}

    @contextmanager
    def noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except (UnreadableError, CacheConflictError) as error:
            self.told[f"{what} isn't known: {str(error).rstrip('.')}."] = None
