"""Costs of an account, as a canned API answers them: groups over some days, with all that isn't known."""

from datetime import UTC, datetime, timedelta
from typing import Any

HOUR = 3600.0
MISSING, UNPRICED, UNWATCHED = 2, 5, 8  # days before today without usage, without a price, and partly without polls
_CLASSES = {
    "succeeded": 5.0, "failed": 0.8, "interrupted": 0.3, "idle": 2.4, "idleSlots": 0.6, "starting": 0.4,
    "startTaskFailed": 0.1,
}  # fmt: skip
WASTED = ("failed", "interrupted", "idle", "idleSlots", "startTaskFailed")


def finding(code: str, scope: str, name: str, amount: float | None, hours: float) -> dict[str, Any]:
    """Returns a finding on the waste of seven days."""
    pool = {"poolId": name} if scope == "pool" else {}
    return {
        "code": code, "severity": "info", "scope": scope, "id": name, "title": f"The title of {code}",
        "detail": "What was seen.", "evidence": pool | {"days": 7, "idleHours": 12},
        "advice": f"Resize it: az batch pool resize --pool-id {name} --target-dedicated-nodes 0", "since": None,
        "amount": amount, "monthlyAmount": amount and round(amount * 30 / 7, 6), "nodeSeconds": hours * HOUR,
        "unpricedSeconds": 0 if amount else hours * HOUR,
    }  # fmt: skip


WASTE: dict[str, Any] = {
    "account": "demo", "currency": "USD", "asOf": "2026-11-29T00:00:00Z", "fullDays": 7,
    "days": [f"2026-11-2{number}" for number in range(2, 9)], "count": 3,
    "value": [
        finding("idlePool", "pool", "pool-0", 280.0, 280), finding("failedTasks", "job", "nightly:job-1", 7.0, 7),
        finding("idleSlots", "pool", "pool-1", None, 90),
    ],
}  # fmt: skip


def cost_sum(amounts: dict[str, float], **changes: Any) -> dict[str, Any]:
    """Returns the sum of amounts by class, at one unit of money for an hour of a node."""
    amounts = {name: round(amount, 6) for name, amount in amounts.items() if amount}
    return {
        "amount": round(sum(amounts.values()), 6),
        "wastedAmount": round(sum(amounts.get(name, 0) for name in WASTED), 6),
        "sharedAmount": 0, "uncertainAmount": 0, "unpricedSeconds": 0, "amounts": amounts,
        "nodeSeconds": {name: amount * HOUR for name, amount in amounts.items()},
        "coreSeconds": sum(amounts.values()) * 4 * HOUR, "busyCoreSeconds": amounts.get("succeeded", 0) * 4 * HOUR,
    } | changes  # fmt: skip


def added(sums: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the sum of sums."""
    priced = {name for one in sums for name in one["amounts"]}
    classes = {name: sum(one["amounts"].get(name, 0) for one in sums) for name in sorted(priced)}
    known = cost_sum(classes) | {
        name: round(sum(one[name] for one in sums), 6)
        for name in ("sharedAmount", "uncertainAmount", "unpricedSeconds")
    }
    names = {name for one in sums for name in one["nodeSeconds"]}
    seconds = {name: sum(one["nodeSeconds"].get(name, 0) for one in sums) for name in sorted(names)}
    has_price = any(one["amount"] is not None for one in sums)
    return known | {"nodeSeconds": seconds, "amount": known["amount"] if has_price else None}


def cost(names: list[str], group_by: str = "pool", *, days: int = 14) -> dict[str, Any]:
    """Returns an answer in which each group costs less than the one before it."""
    end = datetime.combine(datetime.now(UTC).date(), datetime.min.time(), UTC) + timedelta(days=1)
    groups = [_group(name, 0.75**number, end, days, group_by) for number, name in enumerate(names)]
    columns = zip(*(group["steps"] for group in groups), strict=True)
    steps = [column[0] | {"cost": added([one["cost"] for one in column])} for column in columns]
    unpriced = sum(one["cost"]["unpricedSeconds"] for one in steps)
    return {
        "account": "demo", "currency": "USD", "asOf": datetime.now(UTC).isoformat(), "from": _at(end, days),
        "to": _at(end, 0), "groupBy": group_by, "step": "P1D", "cost": added([one["cost"] for one in steps]),
        "steps": steps, "value": groups,
        "unpriced": [
            {"vmSize": "standard_nd96isr_h100_v5", "dedicated": False, "seconds": unpriced, "reason": "severalMeters",
             "detail": "The retail list has several meters with different prices."},
        ],
        "missingDays": [_at(end, MISSING + 1)[:10]], "labels": [],
    }  # fmt: skip


def _group(name: str, weight: float, end: datetime, days: int, group_by: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {
            "from": _at(end, back + 1),
            "to": _at(end, back),
            "cost": _day(name, weight * (1 + 0.5 * (back * 7 % 5)), back, group_by),
        }
        for back in range(days - 1, -1, -1)
        if back != MISSING
    ]
    return {"name": name, "cost": added([one["cost"] for one in steps]), "steps": steps}


def _day(name: str, weight: float, back: int, group_by: str) -> dict[str, Any]:
    """Returns the costs of a group on a day, some days ago."""
    classes = {name: _CLASSES.get(name, 0.05)} if group_by == "class" else _CLASSES
    amounts = {each: amount * weight for each, amount in classes.items()}
    shared = round(weight, 6) if group_by in {"job", "schedule"} and name else 0
    if back == UNPRICED:
        seconds = {each: amount * HOUR for each, amount in amounts.items()}
        return cost_sum({}, amount=None, unpricedSeconds=sum(seconds.values()), nodeSeconds=seconds)
    return cost_sum(amounts, sharedAmount=shared, uncertainAmount=round(3 * weight, 6) if back == UNWATCHED else 0)


def _at(end: datetime, back: int) -> str:
    return (end - timedelta(days=back)).isoformat().replace("+00:00", "Z")
