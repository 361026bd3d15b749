"""Answers of the last second, given again: many people look at the same page, and a page asks many times.

An answer is given again only while this process wrote nothing to the tables that it is made of: what is asked after a
poll ended here is never of before it. Whoever asks while the answer is being made waits for that one. A question is an
address together with the accounts that the caller may read: nobody is given an answer made for somebody else's rights.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

_SECONDS = 1.0
_MOST = 32


@dataclass(frozen=True, slots=True)
class _Made[T]:
    """An answer or what makes it; `version` is what storage was at when that began."""

    answer: asyncio.Task[T]
    version: int


class RecentAnswers[T]:
    """Some dozens at most, by what was asked. Failures aren't kept."""

    def __init__(self) -> None:
        self._made: dict[Hashable, _Made[T]] = {}

    async def get(self, question: Hashable, version: int, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer, from memory where storage is still at `version`. Raises what `make` raises."""
        made = self._made.get(question)
        if made is None or made.version != version:
            made = _Made(asyncio.create_task(make()), version)
            self._keep(question, made)
        return await asyncio.shield(made.answer)  # who gives up waiting leaves it to the others

    def _keep(self, question: Hashable, made: _Made[T]) -> None:
        while len(self._made) >= _MOST:
            del self._made[next(iter(self._made))]
        self._made[question] = made
        loop = asyncio.get_running_loop()
        until = loop.time() + _SECONDS

        def forget() -> None:
            if self._made.get(question) is made:
                del self._made[question]

        def keep_for_a_while(task: asyncio.Task[T]) -> None:
            if task.cancelled() or task.exception():
                forget()
            else:
                loop.call_at(until, forget)

        made.answer.add_done_callback(keep_for_a_while)
