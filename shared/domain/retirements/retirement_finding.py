"""The rule on pools that use something which Azure retires soon, or has retired."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from shared.domain.core.amounts import amount
from shared.domain.findings.finding import Finding, Scope
from shared.domain.findings.thresholds import RETIREMENT_LEAD_DAYS
from shared.domain.retirements.announcements import Announcement

RULE = "poolUsesRetired"


def retirement_findings(concerning: Iterable[Announcement], pool_id: str, today: date) -> list[Finding]:
    """Returns the findings on a pool that these announcements concern, in their order."""
    found = (retirement_finding(one, pool_id, today) for one in concerning)
    return [one for one in found if one]


def retirement_finding(one: Announcement, pool_id: str, today: date) -> Finding | None:
    """Returns the finding on a pool that an announcement concerns; None without a known day, and long before it.

    Its evidence: `retirement` (the announcement's id), `lastDay`, `daysLeft` (negative afterwards), `leadDays` (the
    lead time that has begun, 0 afterwards), `source`.
    """
    days = one.days_left(today)
    if one.last_day is None or days is None or days > max(RETIREMENT_LEAD_DAYS):
        return None
    lead = 0 if days < 0 else min(lead for lead in RETIREMENT_LEAD_DAYS if lead >= days)
    when = f"ends in {amount(days, 'day')}, on {one.last_day}" if days >= 0 else f"ended on {one.last_day}"
    return Finding(
        rule=RULE,
        scope=Scope("pool", pool_id),
        severity="info",
        title=f"{one.what} {when}",
        sentence=f"The pool '{pool_id}' uses it: {one.what} {when} ({one.source}, read on {one.read_on}).",
        advice=f"{one.effect} Use instead: {one.instead}",
        evidence={
            "retirement": one.id, "lastDay": datetime.combine(one.last_day, time(), UTC), "daysLeft": days,
            "leadDays": lead, "source": one.source,
        },
        since=datetime.combine(one.last_day - timedelta(days=lead), time(), UTC),
        link=one.source,
    )  # fmt: skip
