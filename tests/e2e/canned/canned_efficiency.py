"""The efficiency of an account, as a canned API answers it."""

from typing import Any


def _sums(jobs: int, runs: int, cpu: float | None, amount: float | None, wasted: float | None) -> dict[str, Any]:
    shares = {"cpu": cpu, "memory": cpu and cpu / 2, "gpu": None}
    return {
        "jobs": jobs, "measuredRuns": runs, "amount": amount, "wastedAmount": wasted, "usedShares": shares,
    }  # fmt: skip


def account_efficiency() -> dict[str, Any]:
    """Returns two groups of measured jobs, one without, and one change that would save money."""
    groups = [("render-", _sums(3, 1200, 0.24, 840.5, 120.25)), ("try-", _sums(1, 7, None, None, None))]
    groups.append(("other-", _sums(0, 0, None, 10.0, 0.0)))
    saving = {
        "job": "render-7", "code": "oneBusyCore", "vmSize": "standard_d4s_v5",
        "title": "Tasks keep at most one of 4 cores busy",
        "advice": "Set taskSlotsPerNode of a new pool to 3.", "heldAmount": 800.0, "amount": 533.3,
    }  # fmt: skip
    return {
        "account": "demo", "currency": "USD", "asOf": None, "groupBy": "prefix", "step": "P7D",
        "value": [{"name": name, "sums": sums, "steps": []} for name, sums in groups],
        "savings": [saving], "missingDays": [], "labels": [],
    }  # fmt: skip
