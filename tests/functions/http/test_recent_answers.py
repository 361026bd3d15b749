import asyncio
from collections.abc import Awaitable, Callable

import pytest

from functions.http import recent_answers
from functions.http.recent_answers import RecentAnswers

_SECONDS = 30.0


class Source:
    """Creates one answer after another; each waits until `gate` opens."""

    def __init__(self) -> None:
        self.made = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def make(self) -> str:
        self.made += 1
        number = self.made
        await self.gate.wait()
        return f"answer {number}"


def with_a_source(scenario: Callable[[RecentAnswers[str], Source], Awaitable[None]]) -> None:
    async def run() -> None:
        await scenario(RecentAnswers(), Source())

    asyncio.run(run())


def test_an_answer_is_given_again() -> None:
    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        assert [await recent.get("jobs", 1, source.make, seconds=_SECONDS) for _ in range(3)] == ["answer 1"] * 3
        assert await recent.get("accounts", 1, source.make, seconds=_SECONDS) == "answer 2"

    with_a_source(scenario)


def test_an_answer_of_before_a_write_is_not_given_again() -> None:
    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        source.gate.clear()
        before = asyncio.create_task(recent.get("jobs", 1, source.make, seconds=_SECONDS))
        await asyncio.sleep(0)
        after = asyncio.create_task(recent.get("jobs", 2, source.make, seconds=_SECONDS))
        await asyncio.sleep(0)
        source.gate.set()
        assert (await before, await after) == ("answer 1", "answer 2")
        assert await recent.get("jobs", 2, source.make, seconds=_SECONDS) == "answer 2"

    with_a_source(scenario)


def test_an_answer_is_made_anew_after_its_time() -> None:
    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        await recent.get("jobs", 1, source.make, seconds=0.01)
        await asyncio.sleep(0.05)
        assert await recent.get("jobs", 1, source.make, seconds=_SECONDS) == "answer 2"

    with_a_source(scenario)


def test_concurrent_requests_share_an_answer_even_if_the_first_is_cancelled() -> None:
    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        source.gate.clear()
        first, *others = (asyncio.create_task(recent.get("jobs", 1, source.make, seconds=_SECONDS)) for _ in range(3))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        source.gate.set()
        assert await asyncio.gather(*others) == ["answer 1", "answer 1"]

    with_a_source(scenario)


def test_a_failure_is_not_given_again() -> None:
    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        async def fail() -> str:
            raise LookupError

        with pytest.raises(LookupError):
            await recent.get("jobs", 1, fail, seconds=_SECONDS)
        assert await recent.get("jobs", 1, source.make, seconds=_SECONDS) == "answer 1"

    with_a_source(scenario)


def test_only_some_dozens_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_answers, "_MAX", 2)

    async def scenario(recent: RecentAnswers[str], source: Source) -> None:
        for question in ("a", "b", "c"):
            await recent.get(question, 1, source.make, seconds=_SECONDS)
        assert await recent.get("c", 1, source.make, seconds=_SECONDS) == "answer 3"
        assert await recent.get("a", 1, source.make, seconds=_SECONDS) == "answer 4"

    with_a_source(scenario)
