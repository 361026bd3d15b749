"""Records stored data that can't be read, while an answer is made from the rest."""

from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import CacheConflictError, UnreadableError


class UnreadableProblems:
    """Sentences on stored data that can't be read."""

    def __init__(self) -> None:
        self.told: dict[str, None] = {}

    @contextmanager
    def noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except (UnreadableError, CacheConflictError) as error:
            self.told[f"{what} isn't known: {str(error).rstrip('.')}."] = None
