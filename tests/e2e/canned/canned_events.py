"""Events of an account in the API's JSON, for the canned server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.canned.canned_api import Canned, serving
from tests.e2e.canned.canned_values import account, stamp


def event(number: int, **changes: Any) -> dict[str, Any]:
    """Returns the event of a completed task; up to number 1,000, each is a second later than the one before."""
    return {
        "id": f"e{number}",
        "time": stamp(1000 - number),
        "kind": "TaskCompleteEvent",
        "jobId": "render",
        "taskId": f"frame-{number}",
        "poolId": "render-d4s",
        "nodeId": "tvmps_1",
        "summary": f"Task 'frame-{number}' of job 'render' completed on node 'tvmps_1', exit code 0.",
        "claimedTime": None,
        "properties": {},
    } | changes


def pool_event(number: int, **changes: Any) -> dict[str, Any]:
    nothing = {"jobId": None, "taskId": None, "nodeId": None}
    summary = "A resize of pool 'render-d4s' began: from 4 to 8 dedicated nodes."
    return event(number, kind="PoolResizeStartEvent", summary=summary, **nothing) | changes


def failed_event(number: int) -> dict[str, Any]:
    summary = f"Task 'frame-{number}' of job 'render' failed on node 'tvmps_1', exit code 3."
    return event(number, kind="TaskFailEvent", summary=summary)


def ingestion(**changes: Any) -> dict[str, Any]:
    return {
        "account": "demo",
        "container": "insights-logs-servicelog",
        "sweptAt": stamp(12),
        "blobs": 3,
        "behindBlobs": 0,
        "behindBytes": 0,
        "behindSince": None,
        "records": 1_234,
        "bytes": 700_000,
        "events": 1_200,
        "repeats": 34,
        "refused": 0,
        "latestEvent": stamp(125),
        "problems": [],
    } | changes


@contextmanager
def canned_events() -> Iterator[Canned]:
    """Serves 120 events: one in ten is about a pool, one in ten about a failed task."""
    with serving(Canned()) as canned:
        canned.accounts = [account()]
        canned.ingestion = ingestion()
        made = {3: pool_event, 7: failed_event}
        canned.events = [made.get(number % 10, event)(number) for number in range(120, 0, -1)]
        yield canned
