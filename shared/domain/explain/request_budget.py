"""How many requests to Batch explanations of waiting jobs may take, beside the rounds over the same account."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

SHARE = 0.1
"""Requests for explanations, as a share of those that rounds over jobs send."""
FULL = 30.0
"""Requests that may be saved up: a burst after which the share alone counts."""


@dataclass(frozen=True, slots=True)
class RequestBudget:
    """The requests that are `left` as of `at`; negative where the last explanation took more than there were."""

    left: float = FULL
    at: datetime | None = None

    @property
    def has_room(self) -> bool:
        return self.left > 0

    def refilled(self, now: datetime, *, calls: int, interval: timedelta) -> "RequestBudget":
        """Returns the budget `now`, for an account whose rounds send about `calls` requests each `interval`."""
        passed = max(now - self.at, timedelta()) if self.at else timedelta()
        return RequestBudget(min(FULL, self.left + SHARE * calls * (passed / interval)), now)

    def spent(self, requests: int) -> "RequestBudget":
        return replace(self, left=self.left - requests)
