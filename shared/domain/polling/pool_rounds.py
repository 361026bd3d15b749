"""A round over an account's pools: its result, and the verdicts on pools after it.

The levels are those of jobs (`shared/domain/jobs/verdicts.py`), but the rules differ. The service promises that a list
of nodes is exact and that its node counts may be old. So one page with all nodes needs no confirmation, and a list of
changes needs that of the counts. Counts cover states but not tasks and slots, so they confirm only nodes that can't
change further.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar

from shared.domain.jobs.verdicts import Level, Verdict, at_second, in_words, stale_reason
from shared.domain.nodes.nodes import NodeCounts, NodeSummary
from shared.domain.polling.resource_rounds import ResourceRound
from shared.domain.pools.pools import Pool, PoolConfirmation


@dataclass(frozen=True, slots=True)
class PoolRound(ResourceRound[PoolConfirmation]):
    """The last round over an account's pools, as stored in its row."""

    failed_part: ClassVar[str] = "pool{} couldn't be polled"

    def merged(self, stored: "PoolRound") -> "PoolRound":
        """Merges this round with one that another process stored meanwhile: the later confirmation of each pool wins.

        Date and failures are those of the round with the later list; a round that couldn't list counts from its start.
        """
        confirmations = dict(stored.confirmations)
        for key, confirmation in self.confirmations.items():
            other = confirmations.get(key)
            if other is None or other.as_of <= confirmation.as_of:
                confirmations[key] = confirmation
        later = stored if (stored.as_of or stored.started_at) > (self.as_of or self.started_at) else self
        return replace(later, confirmations=confirmations, etag=stored.etag)


def doubt_of(summary: NodeSummary, counts: NodeCounts | None, *, pages: int) -> str | None:
    """Returns why numbers from a list of all nodes may not be of one instant, None for one page, which is.

    `counts` are the service's, None where unknown. Equal counts don't confirm nodes that run tasks: one node may have
    taken a slot after its page was served, and another released one before.
    """
    if pages <= 1:
        return None
    if counts is None:
        return f"Its nodes came on {pages} pages, and nothing is known to compare them with."
    if summary.counts != counts:
        return f"Its nodes came on {pages} pages and the service's node counts differ: nodes moved meanwhile."
    if not summary.is_settled:
        return f"Its nodes came on {pages} pages, and what runs on them may have changed in between."
    return None


def pool_verdict(
    pool: Pool, *, failure: str | None, now: datetime, interval: timedelta, off_reason: str | None = None
) -> Verdict:
    """Returns the verdict on a pool's numbers.

    `failure` is the reason why its last poll failed, `interval` the account's poll interval. `off_reason` is a sentence
    on since when the account isn't watched, None while it is.
    """
    snapshot = pool.snapshot
    if snapshot is None:
        if off_reason:
            return Verdict(None, "none", "stale", off_reason)
        reason = f"Its nodes couldn't be listed yet: {failure}" if failure else "Its nodes haven't been listed yet."
        return Verdict(None, "none", "stale" if failure else "catchingUp", reason)
    level, reason = _judged(pool, failure=failure, age=now - snapshot.as_of, interval=interval)
    if off_reason:
        level, reason = "stale", off_reason
    return Verdict(snapshot.as_of, snapshot.source, level, reason, snapshot.as_of)


def pools_verdict(
    last: PoolRound | None, *, now: datetime, interval: timedelta, off_reason: str | None = None
) -> Verdict:
    """Returns the verdict on an account's list of pools after its last round; each pool has its own verdict."""
    as_of = last.as_of if last else None
    if last is None or as_of is None:
        failure = last.reason if last else None
        reason = f"The last list of pools failed: {failure}" if failure else "The pools haven't been listed yet."
        return Verdict(None, "none", "stale" if failure or off_reason else "catchingUp", off_reason or reason)
    is_late = stale_reason(None, age=now - as_of, interval=interval)
    late = f"The pools were last listed {in_words(now - as_of)} ago." if is_late else None
    reason = off_reason or late or "All pools were listed; each has a verdict of its own."
    return Verdict(as_of, "fullRead", "stale" if off_reason or late else "exact", reason, as_of)


def _judged(pool: Pool, *, failure: str | None, age: timedelta, interval: timedelta) -> tuple[Level, str]:
    snapshot = pool.snapshot
    if stale := stale_reason(failure, age=age, interval=interval):
        return "stale", stale
    if snapshot and snapshot.doubt:
        return "unverified", snapshot.doubt
    then = at_second(snapshot.as_of) if snapshot else ""
    if snapshot and not snapshot.summary.total and pool.facts.is_empty:
        return "exact", f"As of {then}, the service's list of pools showed no nodes in it."
    if snapshot and snapshot.source == "delta":
        return "exact", f"As of {then}, its changed nodes were listed, and the service's node counts agreed."
    return "exact", f"As of {then}, all of its nodes were listed."
