"""The rate limit for calls to an account, and the half of it that long reads may use."""

import asyncio

import pytest

from shared.domain.core.call_window import CallWindow
from shared.errors import BatchThrottledError
from shared.stores.batch.rate_limits import LongReadRateLimit, RateLimitPolicy


async def test_calls_past_the_cap_are_refused_with_a_retry_time() -> None:
    policy = RateLimitPolicy("https://demo", CallWindow(3))
    for _ in range(3):
        policy.on_request(None)
    with pytest.raises(BatchThrottledError, match="MAX_BATCH_CALLS_PER_MINUTE") as caught:
        policy.on_request(None)
    assert 59 < caught.value.retry_after.total_seconds() <= 60


async def test_the_cap_counts_only_the_last_minute() -> None:
    calls = CallWindow(1)
    calls.note(asyncio.get_running_loop().time() - 61)
    RateLimitPolicy("https://demo", calls).on_request(None)


@pytest.mark.parametrize(("limit", "share"), [(3, 1), (10, 5), (1, 1)])
async def test_long_reads_get_half_of_the_calls(limit: int, share: int) -> None:
    turns, soon = LongReadRateLimit(CallWindow(limit)), asyncio.get_running_loop().time() + 0.01
    taken = await asyncio.gather(*(turns.wait(soon) for _ in range(limit + 1)))
    assert taken == [True] * share + [False] * (limit + 1 - share)


async def test_a_long_read_waits_where_others_have_sent_all_calls() -> None:
    calls, now = CallWindow(4), asyncio.get_running_loop().time()
    for _ in range(4):
        calls.note(now - 59.9)
    turns = LongReadRateLimit(calls)
    assert not await turns.wait(now)
    assert await turns.wait(now + 10)
    assert asyncio.get_running_loop().time() >= now + 0.1


async def test_the_second_in_line_gives_up_at_its_own_deadline() -> None:
    calls, now = CallWindow(2), asyncio.get_running_loop().time()
    turns = LongReadRateLimit(calls)
    assert await turns.wait(now)
    first = asyncio.create_task(turns.wait(now + 5))
    await asyncio.sleep(0)
    assert not await asyncio.wait_for(turns.wait(now + 0.05), 1)
    first.cancel()
