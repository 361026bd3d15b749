"""Collects the facts that couldn't be determined, while an answer is made from the rest."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import BatchscopeError, BatchThrottledError, CacheConflictError, UnreadableError


class UnknownFacts:
    """Sentences on unknown facts, those that Batch would give before those that storage would give."""

    def __init__(self) -> None:
        self._unasked: list[str] = []
        self._unread: dict[str, None] = {}

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self._unasked, *self._unread)

    def add(self, sentence: str) -> None:
        """Adds a sentence on a fact that Batch would give."""
        self._unasked.append(f"{sentence.rstrip('.')}.")

    @contextmanager
    def unasked(self, fact: str) -> Iterator[None]:
        """Notes that a fact isn't known if a request fails. Raises BatchThrottledError, as requests must stop then."""
        try:
            yield
        except BatchThrottledError:
            raise
        except BatchscopeError as error:
            self.add(f"{fact} isn't known: {error}")

    @contextmanager
    def unread(self, fact: str) -> Iterator[None]:
        """Notes, once, that a fact isn't known if stored data can't be read."""
        try:
            yield
        except (UnreadableError, CacheConflictError) as error:
            self._unread[f"{fact} isn't known: {str(error).rstrip('.')}."] = None
