"""Tasks as the service sends them, against a plain and slow reading of the same JSON.

Also the job fields that the SDK returns in undeclared types.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.batch.models import BatchJob
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.tasks.tasks import RESULTS, STATES, Task
from shared.stores.batch.batch_rows import NONSENSE, job_of, page_of, task_of
from tests.domain.support.task_strategies import ids

digits = st.integers(0, 7).flatmap(
    lambda count: st.integers(0, 10**count - 1).map(lambda n: f"{n:0{count}}" if count else "")
)
moments = st.builds(
    lambda moment, fraction: f"{moment:%Y-%m-%dT%H:%M:%S}{'.' * bool(fraction)}{fraction}Z",
    st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001
    digits,
)
words = st.text(max_size=8)


def some(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    """Generates objects in which optional properties may be null or missing, beside one unrequested property."""
    nullable = {name: st.none() | values for name, values in optional.items()}
    return st.fixed_dictionaries(required, optional={**nullable, "url": words})


runs = some(
    {},
    {
        "startTime": moments, "endTime": moments, "exitCode": st.integers(-(2**31), 2**32),
        "retryCount": st.integers(0, 9), "requeueCount": st.integers(0, 9),
        "result": st.sampled_from(["success", "failure", "Success"]),
        "failureInfo": some({}, {"category": words, "code": words, "details": st.just([])}),
    },
)  # fmt: skip
rows = some(
    {"id": ids, "state": st.sampled_from(STATES), "stateTransitionTime": moments},
    {
        "creationTime": moments, "executionInfo": runs, "requiredSlots": st.integers(1, 256),
        "nodeInfo": some({}, {"poolId": words, "nodeId": words, "nodeUrl": words}),
    },
)  # fmt: skip


def plainly_read(row: dict[str, Any]) -> Task:
    run, node = row.get("executionInfo") or {}, row.get("nodeInfo") or {}
    failure = run.get("failureInfo") or {}
    return Task(
        id=row["id"],
        state=STATES.index(row["state"]),
        result=RESULTS.index((run.get("result") or "none").lower()),
        transition=moment_of(row["stateTransitionTime"]),
        creation=moment_of(row.get("creationTime")),
        start=moment_of(run.get("startTime")),
        end=moment_of(run.get("endTime")),
        exit_code=run.get("exitCode"),
        failure=(failure.get("category") or "", failure.get("code") or ""),
        retries=run.get("retryCount") or 0,
        requeues=run.get("requeueCount") or 0,
        slots=row.get("requiredSlots") or 1,
        node=(node.get("poolId") or "", node.get("nodeId") or ""),
    )


def moment_of(text: str | None) -> int:
    return to_milliseconds(datetime.fromisoformat(text).astimezone(UTC)) if text else 0


@given(st.lists(rows, max_size=8), st.none() | words)
def test_a_page_is_read_as_plainly_as_row_by_row(many: list[dict[str, Any]], link: str | None) -> None:
    body = {"odata.metadata": "x", "value": many} | ({"odata.nextLink": link} if link is not None else {})
    tasks, found = page_of(json.dumps(body).encode())
    assert tasks == [plainly_read(row) for row in many]
    assert all(isinstance(task, Task) for task in tasks)
    assert found == link
    assert [task_of(json.dumps(row).encode()) for row in many] == tasks


WHOLE = {"id": "a", "state": "active", "stateTransitionTime": "2026-01-02T03:04:05Z"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 1}, {"id": None}, {"state": "asleep"}, {"stateTransitionTime": None}, {"stateTransitionTime": ""},
        {"stateTransitionTime": "soon"}, {"creationTime": 7}, {"executionInfo": []},
        {"executionInfo": {"exitCode": "x"}},
        {"executionInfo": {"result": "maybe"}}, {"executionInfo": {"startTime": "Z"}}, {"requiredSlots": "many"},
        {"nodeInfo": {"nodeId": 7}}, {"executionInfo": {"failureInfo": {"code": []}}},
    ],
)  # fmt: skip
def test_a_task_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NONSENSE):
        task_of(json.dumps(WHOLE | wrong).encode())


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b'{"value":{}}', b'{"value":[{}]}', b'{"value":[', b'{"value":null}']
)
def test_a_page_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(NONSENSE):
        page_of(body)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("PT5M", timedelta(minutes=5)), ("P1DT2H", timedelta(hours=26)), ("P10675199DT2H48M5.4775807S", None),
        ("P1M", None), ("P1Y", None), ("", None), ("soon", None), (None, None),
    ],
)  # fmt: skip
def test_a_time_limit_that_is_no_number_of_seconds_is_read_as_none(
    limit: str | None, expected: timedelta | None
) -> None:
    at = WHOLE["stateTransitionTime"]
    limited = {"constraints": {"maxWallClockTime": limit}, "creationTime": at}
    rules = job_of(BatchJob(WHOLE | limited)).rules
    assert rules is not None
    assert rules.max_wall_clock_time == expected


@pytest.mark.parametrize(("sent", "allows"), [(True, True), (False, False), (None, False)])
def test_a_job_allows_preemption_only_where_batch_says_so(*, sent: bool | None, allows: bool) -> None:
    facts = job_of(BatchJob(WHOLE | {"allowTaskPreemption": sent, "creationTime": WHOLE["stateTransitionTime"]}))
    assert facts.rules.allows_preemption == allows
