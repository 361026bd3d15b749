"""Reads the other jobs on a pool, and whether those before a job can use the slots that they wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence
from shared.domain.explain.rivals import Rival
from shared.domain.jobs.forecasts import forecast_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.reports.reports import JobReport
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.rival_conditions import ENOUGH_LOOKS
from shared.services.explain.unreadable_problems import UnreadableProblems
from shared.services.tasks.unfinished_tasks import UnfinishedTasks
from shared.stores.batch.batch import BatchAccount

_MAX_ASKED = 10  # jobs, for requests to Batch and for reads of storage


class RivalReader:
    def __init__(self, tasks: UnfinishedTasks, live: LiveEvidence) -> None:
        self._tasks = tasks
        self._live = live

    async def read(
        self, source: BatchAccount, evidence: Evidence, others: Sequence[JobReport], unread: UnreadableProblems
    ) -> tuple[tuple[Rival, ...], tuple[str, ...]]:
        """Returns the other jobs on the pool, and sentences on unknown facts.

        For those that come first, it determines whether their waiting tasks can start at all.
        """
        rivals = {job.job.key: rival for job in others if (rival := rival_of(job))}
        reports = {job.job.key: job for job in others}
        in_line = _in_line(evidence, rivals)
        for key in in_line[:_MAX_ASKED]:
            rivals[key] = replace(rivals[key], fits=await self._fits(reports[key], rivals[key], evidence, unread))
        uncertain = [key for key in in_line if _is_uncertain(rivals[key])]
        looks, failed, unknown = await self._live.of_rivals(source, [reports[key] for key in uncertain[:_MAX_ASKED]])
        for key, look in looks.items():
            rivals[key] = replace(rivals[key], dependencies=look.dependencies, is_prepared=look.is_prepared)
        if len(looks) >= ENOUGH_LOOKS and all(look.is_held for look in looks.values()):
            doubtful = [key for key in uncertain if key not in looks]
            rivals |= {key: replace(rivals[key], is_doubtful=True) for key in doubtful}
            if more := len(doubtful) - len(failed):
                unknown += (f"Whether the waiting tasks of {amount(more, 'more job')} could start isn't known.",)
        return tuple(rivals.values()), unknown

    async def _fits(self, report: JobReport, rival: Rival, evidence: Evidence, unread: UnreadableProblems) -> bool:
        """Returns whether one of the first waiting tasks of a job fits on a node; True if unknown."""
        if evidence.pool is None or rival.waiting_slots <= rival.counts.active:
            return True
        with unread.noted(f"How many slots the waiting tasks of '{rival.id}' require"):
            found = await self._tasks.waiting(report)
            return found is None or found.least_slots <= evidence.pool.facts.slots_per_node
        return True


def _in_line(evidence: Evidence, rivals: Mapping[str, Rival]) -> list[str]:
    """Returns the keys of jobs before this one or of the same priority, those with the most slots first."""
    priority = evidence.job.priority or 0
    ahead = [key for key, rival in rivals.items() if rival.contending and rival.priority >= priority]
    ordered = sorted(ahead, key=lambda key: (-rivals[key].priority, -rivals[key].contending_slots, key))
    return ordered if evidence.waits and not evidence.deleted else []


def _is_uncertain(rival: Rival) -> bool:
    """Returns whether storage doesn't decide if a waiting task of the job could start."""
    return rival.fits and (rival.rules.uses_task_dependencies or not rival.running)


def rival_of(report: JobReport) -> Rival | None:
    """Returns None for a job without running or waiting tasks."""
    picture, facts = report.job.picture, report.job.facts
    if picture is None or facts.state == COMPLETED or picture.counts.completed == picture.counts.total:
        return None
    counts, forecast = picture.counts, forecast_of(report.job, report.verdict)
    insight = forecast.insight if forecast else None
    return Rival(
        id=facts.id,
        priority=facts.priority or 0,
        state=facts.state,
        rules=facts.rules or JobRules(),
        counts=counts,
        running_slots=insight.running_slots + insight.preparing_slots if insight else counts.running + counts.preparing,
        waiting_slots=insight.active_slots if insight else counts.active,
    )
