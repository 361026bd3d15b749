"""Task starts that are the service's internal retries: those that nothing else in the log explains."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_sentences import sentence_of
from shared.domain.events.internal_retries import internal_retries

NOON = datetime(2026, 8, 6, 12, tzinfo=UTC)


def event(kind: str, minutes: int, *, task: str = "t", version: Any = 1, retries: Any = 0) -> BatchEvent:
    properties = {"systemTaskVersion": version, "executionInfo": {"retryCount": retries}}
    identity = f"{kind}{minutes}{task}".encode().ljust(12)
    return BatchEvent(NOON + timedelta(minutes=minutes), f"Task{kind}Event", "j", task, "p", "n1", properties, identity)


FIRST = event("Start", 0)


def test_a_start_whose_version_changed_while_its_retry_count_did_not_is_an_internal_retry() -> None:
    again, third = event("Start", 5, version=2), event("Start", 9, version=7)
    assert internal_retries([third, again, FIRST]) == {again.id: FIRST, third.id: again}
    assert sentence_of(again, is_internal_retry=True) == (
        "Task 't' of job 'j' started on node 'n1' (an internal retry by Batch)."
    )
    assert sentence_of(again) == "Task 't' of job 'j' started on node 'n1'."


@pytest.mark.parametrize(
    "others",
    [
        [],
        [event("Start", 5)],
        [event("Start", 5, version=2, retries=1)],
        [event("Start", 5, version=2, task="other")],
        [event("Start", 5, version=None)],
        [event("Requeue", 4), event("Start", 5, version=2)],
        [event("Complete", 4), event("Start", 5, version=2)],
        [event("Complete", 4), event("Fail", 4), event("Start", 5, version=2)],
    ],
    ids=["first", "same version", "retry", "other task", "no version", "requeued", "reactivated", "failed"],
)
def test_other_starts_are_none(others: list[BatchEvent]) -> None:
    assert internal_retries([FIRST, *others]) == {}
