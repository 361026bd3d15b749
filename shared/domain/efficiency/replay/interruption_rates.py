"""How often spot nodes of a pool were interrupted, from its usage ledger and its count of interruptions."""

from datetime import timedelta

from shared.domain.efficiency.replay.workloads import InterruptionRate
from shared.domain.nodes.interruptions import DAY, InterruptionCount
from shared.domain.usage.billing_classes import UNBILLED
from shared.domain.usage.usage_ledger import HOUR, UsageHours

_DAY = DAY // timedelta(milliseconds=1)


def interruption_rate(hours: UsageHours, tally: InterruptionCount | None, since: int, now: int) -> InterruptionRate:
    """Returns the rate since a ledger began, or of the last day where interruptions were counted for longer.

    Restarts between two polls that nothing explains count as interruptions. `since` and `now` are milliseconds since
    1970. Without any the rate is 0.
    """
    if tally is None:
        return InterruptionRate()
    is_whole = tally.since >= since - HOUR
    first = 0 if is_whole else (now - _DAY) // HOUR
    spot = [
        (kind.billing_class, time)
        for hour, amounts in hours.items()
        if hour >= first
        for kind, time in amounts.items()
        if not kind.dedicated
    ]
    there = sum(time for name, time in spot if name not in UNBILLED)
    seen = tally.interruptions
    number = seen.total + seen.unexplained if is_whole else seen.within(DAY, now)
    if not number or not there:
        return InterruptionRate()
    away = sum(time for name, time in spot if name == "preempted")
    return InterruptionRate(number, there / HOUR, away // number)


def rate_among(rate: InterruptionRate, spot: int, nodes: int) -> InterruptionRate:
    """Returns how often one of some nodes is interrupted, if only the spot nodes among them are, at their rate."""
    return rate._replace(node_hours=rate.node_hours * nodes / spot) if spot else InterruptionRate()
