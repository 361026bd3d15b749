"""The efficiency of an account, as a canned API answers it."""

from datetime import UTC, datetime, timedelta
from typing import Any

_WEEK = timedelta(days=7)
_WEEKS = 3


def _sums(jobs: int, runs: int, cpu: float | None, amount: float | None, wasted: float | None) -> dict[str, Any]:
    shares = {"cpu": cpu, "memory": cpu and cpu / 2, "gpu": None}
    return {
        "jobs": jobs, "measuredRuns": runs, "amount": amount, "wastedAmount": wasted, "usedShares": shares,
    }  # fmt: skip


def _steps(since: datetime, sums: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns weeks; the second has too few runs."""
    few = sums | {"usedShares": dict.fromkeys(sums["usedShares"]), "wastedAmount": None}
    return [
        {
            "from": _text(since + week * _WEEK),
            "to": _text(since + (week + 1) * _WEEK),
            "sums": few if week == 1 else sums,
        }
        for week in range(_WEEKS)
    ]


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def account_efficiency() -> dict[str, Any]:
    """Returns two groups of measured jobs, one without, and two changes that would save money."""
    until = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    since = until - _WEEKS * _WEEK
    groups = [("render-", _sums(3, 1200, 0.24, 840.5, 120.25)), ("try-", _sums(1, 7, None, None, None))]
    groups.append(("other-", _sums(0, 0, None, 10.0, 0.0)))
    saving = {
        "job": "render-7", "pool": None, "code": "oneBusyCore", "vmSize": "standard_d4s_v5",
        "title": "Tasks keep at most one of 4 cores busy",
        "advice": "Set taskSlotsPerNode of a new pool to 3.", "heldAmount": 800.0, "ownAmount": 533.3, "amount": 533.3,
    }  # fmt: skip
    of_pool = saving | {
        "job": None, "pool": "render-d4s", "code": "spotInstead", "vmSize": "", "title": "Spot nodes would cost less",
        "heldAmount": 900.0, "ownAmount": 400.0, "amount": 160.5,
    }  # fmt: skip
    return {
        "account": "demo", "currency": "USD", "asOf": None, "groupBy": "prefix", "step": "P7D",
        "from": _text(since), "to": _text(until),
        "value": [{"name": name, "sums": sums, "steps": _steps(since, sums)} for name, sums in groups],
        "savings": [saving, of_pool], "missingDays": [], "labels": [],
    }  # fmt: skip
