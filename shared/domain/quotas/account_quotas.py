"""An account's quotas: what is stored of them, and each with limit, use and share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from shared.domain.quotas.quota_days import UseByDay, reached_at
from shared.domain.quotas.quota_limits import QuotaLimits
from shared.domain.quotas.quota_use import DEDICATED, JOBS, POOLS, SPOT, QuotaKey, QuotaUse

type NoLimitReason = Literal["off", "idUnknown", "notReadYet", "failed", "userSubscription", "notReported"]
NO_LIMIT: Mapping[NoLimitReason, str] = {
    "off": "Reading quotas is switched off (READ_QUOTAS).",
    "idUnknown": "The account's id in Azure Resource Manager isn't known; name it in BATCH_ACCOUNT_IDS.",
    "notReadYet": "The quotas haven't been read yet.",
    "failed": "The quotas couldn't be read so far.",
    "userSubscription": "The account's nodes are in your own subscription, whose quotas hold for them.",
    "notReported": "Azure doesn't report this quota.",
}
"""Each reason as a sentence."""


@dataclass(frozen=True, slots=True)
class StoredQuotas:
    """Limits of the last read that had no failure, since when reads fail, and the largest use by day."""

    limits: QuotaLimits | None = None
    failed_since: datetime | None = None
    reason: str = ""
    days: UseByDay = field(default_factory=dict)
    etag: str | None = None

    def read(self, limits: QuotaLimits) -> "StoredQuotas":
        return replace(self, limits=limits, failed_since=None, reason="")

    def failed(self, reason: str, now: datetime) -> "StoredQuotas":
        """Returns the quotas after a read that failed: known limits go on."""
        return replace(self, failed_since=self.failed_since or now, reason=reason)

    @property
    def problem(self) -> str:
        """A sentence on reads that fail; empty where the last one didn't."""
        if not self.failed_since:
            return ""
        since = f"{self.failed_since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return f"Quotas couldn't be read since {since}, so known limits go on: {self.reason}"


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota's limit, or why it is unknown, its use, and when the limit is reached at the rate of the last days."""

    key: QuotaKey
    used: int
    limit: int | None
    no_limit: NoLimitReason | None = None
    reached_at: datetime | None = None

    @property
    def share(self) -> float | None:
        """The used share; None without a limit, and of a limit of 0 that nothing uses."""
        if self.limit is None or not (self.limit or self.used):
            return None
        return self.used / self.limit if self.limit else 1.0


def quotas_of(
    stored: StoredQuotas, use: QuotaUse, now: datetime, unread: NoLimitReason = "notReadYet"
) -> Sequence[Quota]:
    """Returns all quotas; `unread` is why an account without a read has no limits.

    VM families are those with a limit or with nodes; of families that aren't enforced only the account's total holds.
    """
    limits = stored.limits
    if limits is None:
        missing: NoLimitReason = "failed" if stored.failed_since else unread
        return [Quota(key, use.of(key), None, missing) for key in (DEDICATED, SPOT, POOLS, JOBS)]
    cores: NoLimitReason = "userSubscription" if limits.is_user_subscription else "notReported"
    known = {DEDICATED: limits.dedicated_cores, SPOT: limits.spot_cores, POOLS: limits.pools, JOBS: limits.jobs}
    if limits.enforced and not limits.is_user_subscription:
        used = {key.family for key in use.numbers if key.family}
        shown = {*used, *(name for name, limit in limits.families.items() if limit)}
        known |= {QuotaKey("familyCores", name): limits.families.get(name) for name in sorted(shown)}

    def quota(key: QuotaKey, limit: int | None) -> Quota:
        number = use.of(key)
        if limit is None or (key in {DEDICATED, SPOT} and limits.is_user_subscription):
            return Quota(key, number, None, cores if key in {DEDICATED, SPOT} else "notReported")
        return Quota(key, number, limit, None, reached_at(stored.days, key, used=number, limit=limit, now=now))

    return [quota(key, limit) for key, limit in known.items()]
