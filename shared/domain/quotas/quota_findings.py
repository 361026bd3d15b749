"""The rule on quotas that are nearly used up, or will be soon."""

from datetime import datetime

from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import QUOTA_AHEAD, QUOTA_SHARE
from shared.domain.quotas.account_quotas import Quota

RULE = "quotaNearlyReached"
_NOUNS = {
    "dedicatedCores": "dedicated cores", "spotCores": "spot cores", "familyCores": "dedicated cores", "pools": "pools",
    "activeJobsAndSchedules": "active jobs and job schedules",
}  # fmt: skip


def quota_finding(account_id: str, quota: Quota, as_of: datetime, now: datetime) -> Finding | None:
    """Returns the finding on a quota with a limit above 0 that is used by 90 %, or reached within a week."""
    if not quota.limit or quota.share is None:
        return None
    is_soon = quota.reached_at is not None and quota.reached_at - now <= QUOTA_AHEAD
    if quota.share < QUOTA_SHARE and not is_soon:
        return None
    noun = _NOUNS[quota.key.name]
    of_family = f" of the VM family {quota.key.family}" if quota.key.family else ""
    when = f"{quota.reached_at:%Y-%m-%d}" if quota.reached_at and quota.used < quota.limit else None
    return Finding(
        rule=RULE,
        scope=Scope("account", account_id),
        severity="info",
        title=f"{round(100 * quota.share)} % of the quota of {noun} is used",
        sentence=f"The account may have {quota.limit:,} {noun}{of_family}, and {quota.used:,} are in use."
        + (f" At the rate of the last days the limit is reached on {when}." if when else ""),
        advice="Ask for a higher quota (the Batch account's page Quotas), or free some: make pools smaller, delete"
        " those that nobody needs, terminate jobs that are done. What the account has: az batch account show --name"
        " NAME --resource-group GROUP",
        evidence={
            "quota": quota.key.name,
            "family": quota.key.family or None,
            "limit": quota.limit,
            "used": quota.used,
            "reachedAt": quota.reached_at,
            "asOf": as_of,
        },
    )
