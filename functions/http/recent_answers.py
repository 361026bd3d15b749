"""A cache of answers for seconds, since many people open the same page and a page polls often.

A cached answer is reused only while this process has written none of the tables that it depends on. So a request after
a poll of this process never gets older data. Concurrent equal requests share one computation. The cache key is the
address and the accounts that the caller may read, so no caller gets an answer computed for other rights.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

_MAX = 32


@dataclass(frozen=True, slots=True)
class _Made[T]:
    """A finished or pending answer; `version` counts table writes at its start."""

    answer: asyncio.Task[T]
    version: int


class RecentAnswers[T]:
    """At most 32 answers, by request. Failures aren't kept."""

    def __init__(self) -> None:
        self._made: dict[Hashable, _Made[T]] = {}

    async def get(
        self, question: Hashable, version: int, make: Callable[[], Coroutine[Any, Any, T]], *, seconds: float
    ) -> T:
        """Returns the answer, cached if `version` is unchanged and it was requested less than `seconds` ago.

        Raises every error of `make`.
        """
        made = self._made.get(question)
        if made is None or made.version != version:
            made = _Made(asyncio.create_task(make()), version)
            self._keep(question, made, seconds)
        return await asyncio.shield(made.answer)  # a cancelled waiter doesn't cancel the task for the others

    def _keep(self, question: Hashable, made: _Made[T], seconds: float) -> None:
        while len(self._made) >= _MAX:
            del self._made[next(iter(self._made))]
        self._made[question] = made
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds

        def forget() -> None:
            if self._made.get(question) is made:
                del self._made[question]

        def keep_for_a_while(task: asyncio.Task[T]) -> None:
            if task.cancelled() or task.exception():
                forget()
            else:
                loop.call_at(until, forget)

        made.answer.add_done_callback(keep_for_a_while)
