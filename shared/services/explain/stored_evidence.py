"""Stored evidence about jobs on a pool: which jobs count, as of when it is known, and which parts aren't up to date."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from shared.domain.core.amounts import amount
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.reports.reports import JobReport, PoolReport

_LATELY = timedelta(hours=1)
_UNSURE = ("stale", "catchingUp")


def shares_pool(report: JobReport, pool_id: str | None) -> bool:
    return bool(pool_id) and key_of(report.job.facts.pool_id or "") == key_of(pool_id or "")


def may_change(report: JobReport, now: datetime) -> bool:
    """Returns whether an answer depends on another job's changing state, even if that isn't read so far.

    It does for an hour after the job completed, the time from which the rate of ended tasks is computed.
    """
    facts = report.job.facts
    ended_lately = facts.state != COMPLETED or now - facts.state_transition_time < _LATELY
    return ended_lately and not report.job.finalized


def oldest_as_of(*parts: JobReport | PoolReport | None) -> datetime | None:
    """Returns the date of the oldest part that has one."""
    moments = [part.verdict.as_of for part in parts if part]
    return min((moment for moment in moments if moment), default=None)


def unsure_parts(report: JobReport | None, pool: PoolReport | None, others: Sequence[JobReport]) -> Iterator[str]:
    """Yields a sentence for each part of the stored evidence that isn't up to date."""
    if report and report.verdict.level in _UNSURE:
        yield f"The counts of its tasks aren't up to date. {report.verdict.reason}"
    if pool and pool.verdict.level in _UNSURE:
        yield f"What is known of the pool '{pool.pool.facts.id}' isn't up to date. {pool.verdict.reason}"
    if pool and pool.pool.facts.job_order is None:
        named = f"the jobDefaultOrder of the pool '{pool.pool.facts.id}'"
        yield f"What {named} means isn't known, so which of its jobs of equal priority goes first isn't either."
    unsure = [other for other in others if other.verdict.level in _UNSURE]
    if unsure:
        more = f" and of {amount(len(unsure) - 1, 'other job')}" if len(unsure) > 1 else ""
        first, reason = unsure[0].job.facts.id, unsure[0].verdict.reason
        yield f"What is known of the job '{first}'{more} on the same pool isn't up to date. {reason}"
