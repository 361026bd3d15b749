import pytest

from shared.errors import BatchThrottledError
from shared.stores.call_cap import CallCapPolicy


async def test_calls_past_the_cap_are_refused_and_told_when_there_is_room() -> None:
    policy = CallCapPolicy("https://demo", 3)
    for _ in range(3):
        policy.on_request(None)
    with pytest.raises(BatchThrottledError, match="MAX_BATCH_CALLS_PER_MINUTE") as caught:
        policy.on_request(None)
    assert 59 < caught.value.retry_after.total_seconds() <= 60


async def test_the_cap_counts_only_the_last_minute() -> None:
    policy = CallCapPolicy("https://demo", 1)
    policy.on_request(None)
    policy._sent[0] -= 61
    policy.on_request(None)
