"""Job schedules in the API's JSON, for the canned server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.canned.canned_api import Canned, serving
from tests.e2e.canned.canned_values import account, counts, last_round, stamp


def missed(count: int | None = 0, basis: str = "Counted since its first run fell due.") -> dict[str, Any]:
    known = count is not None
    return {
        "count": count,
        "since": stamp(7_200) if known else None,
        "until": stamp(3) if known else None,
        "basis": basis,
    }


def run(number: int, *, schedule: str = "nightly", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"{schedule}:job-{number}",
        "state": "completed",
        "creationTime": stamp(3_900),
        "endTime": stamp(3_780),
        "deleted": False,
        "taskCounts": counts(succeeded=11, failed=1),
    } | changes


def totals(**changes: Any) -> dict[str, Any]:
    nothing = {"activeJobs": 0, "unreadJobs": 0, "unknownJobs": 0, "taskCounts": counts(), "asOf": None, "exact": True}
    return nothing | changes


def schedule(name: str, **changes: Any) -> dict[str, Any]:
    """Returns a schedule in full, which runs every hour without problems."""
    tasks = counts(running=836, active=100, succeeded=11, failed=1)
    return {
        "id": name,
        "account": "demo",
        "displayName": None,
        "state": "active",
        "previousState": None,
        "creationTime": stamp(7_200),
        "stateTransitionTime": stamp(7_200),
        "previousStateTransitionTime": None,
        "lastModified": stamp(7_200),
        "endTime": None,
        "deleted": False,
        "deletedTime": None,
        "schedule": {
            "doNotRunUntil": None,
            "doNotRunAfter": None,
            "startWindow": "PT5M",
            "recurrenceInterval": "PT1H",
        },
        "recentJob": {"id": f"{name}:job-3", "state": "active", "deleted": False},
        "lastRunTime": stamp(300),
        "nextRunTime": stamp(-3_330),
        "runs": {"total": 3, "active": 1, "completed": 1, "deleted": 1},
        "missedRuns": missed(),
        "totals": totals(activeJobs=1, taskCounts=tasks, asOf=stamp(3)),
        "verdict": {
            "asOf": stamp(3),
            "source": "fullRead",
            "level": "exact",
            "reason": "The list of job schedules tells all of it.",
            "checkedAt": stamp(3),
        },
        "jobSpecification": {
            "priority": 3,
            "constraints": {"maxWallClockTime": "P10675199DT2H48M5.4775807S"},
            "jobManagerTask": {
                "id": "manager",
                "commandLine": "login --password [redacted]",
                "environmentSettings": [{"name": "MODE", "value": "[redacted]"}],
            },
            "poolInfo": {"poolId": "render-d4s"},
        },
        "jobSpecificationProblem": None,
        "omittedProperties": ["networkConfiguration"],
        "recentJobs": [run(3, schedule=name, state="active", endTime=None, taskCounts=tasks), run(2, schedule=name)],
    } | changes


@contextmanager
def canned_schedules() -> Iterator[Canned]:
    """Serves a schedule without problems, one that missed runs, and a disabled one without known facts."""
    late = schedule("sync", missedRuns=missed(4), schedule=schedule("")["schedule"] | {"recurrenceInterval": "PT10M"})
    off = schedule(
        "closing",
        state="disabled",
        previousState="active",
        missedRuns=missed(None, "It was over, or disabled, when it was first seen."),
        recentJob=None,
        recentJobs=[],
        lastRunTime=None,
        nextRunTime=None,
        runs={"total": 0, "active": 0, "completed": 0, "deleted": 0},
        totals=totals(),
        jobSpecification=None,
        omittedProperties=[],
    )
    with serving(Canned()) as canned:
        sums = {"total": 3, "byState": {"active": 2, "disabled": 1}, "asOf": stamp(3)}
        canned.accounts = [account(lastRound=last_round(), schedules=sums)]
        canned.schedules = {"demo": [schedule("nightly"), off, late]}
        yield canned
