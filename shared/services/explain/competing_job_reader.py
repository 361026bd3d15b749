"""Reads the other jobs on a pool, and whether those before a job can use the slots that they wait for.

Batch is asked what holds their waiting tasks, as permanently held tasks don't compete for slots: the dependencies, for
jobs that use them, and the results of preparation for jobs without running tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.domain.core.amounts import amount
from shared.domain.explain.competing_jobs import CompetingJob
from shared.domain.explain.evidence import Evidence
from shared.domain.jobs.forecasts import forecast_of
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.reports.pool_rate import PoolRate
from shared.domain.reports.reports import JobReport
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.tasks.task_queries import TaskQueries
from shared.services.tasks.unfinished_tasks import UnfinishedTasks
from shared.stores.batch.batch import BatchAccount

_MAX_ASKED = 10  # jobs, for requests to Batch and for reads of storage
_ENOUGH_ANSWERS = 3
_MAX_FAILED = 3
_LEFT = "whether the waiting tasks of other jobs could start isn't known"


class CompetingJobReader:
    def __init__(self, tasks: TaskQueries, live: LiveEvidence) -> None:
        self._unfinished = UnfinishedTasks(tasks)
        self._live = live

    async def read(
        self,
        source: BatchAccount,
        evidence: Evidence,
        others: Sequence[JobReport],
        rate: PoolRate | None,
        unknown: UnknownFacts,
    ) -> tuple[CompetingJob, ...]:
        """Returns the other jobs on the pool.

        For those that come first, it determines whether their waiting tasks can start at all.
        """
        reports = {report.job.key: report for report in others}
        jobs = {key: job for key, report in reports.items() if (job := competing_job_of(report, rate))}
        in_line = _in_line(evidence, jobs)
        for key in [key for key in in_line if _is_wide(jobs[key])][:_MAX_ASKED]:
            jobs[key] = await self._with_slots(reports[key], jobs[key], evidence, unknown)
        uncertain = [key for key in in_line if _is_uncertain(jobs[key])]
        requests = _Requests(self._live, source, unknown)
        if uncertain:
            asked = [(reports[key], jobs[key]) for key in uncertain[:_MAX_ASKED]]
            await self._live.ask(source, lambda: requests.send(asked), unknown, lambda: _LEFT)
        jobs |= requests.answers
        if len(requests.answers) >= _ENOUGH_ANSWERS and all(job.is_held for job in requests.answers.values()):
            doubtful = [key for key in uncertain if key not in requests.answers]
            jobs |= {key: replace(jobs[key], is_doubtful=True) for key in doubtful}
            if more := len(doubtful) - requests.failed:
                unknown.add(f"Whether the waiting tasks of {amount(more, 'more job')} could start isn't known")
        return tuple(jobs.values())

    async def _with_slots(
        self, report: JobReport, job: CompetingJob, evidence: Evidence, unknown: UnknownFacts
    ) -> CompetingJob:
        """Returns the job with its waiting tasks that fit on no node, as far as these can be read."""
        if evidence.facts is None:
            return job
        slots_per_node = evidence.facts.slots_per_node
        with unknown.unread(f"How many slots the waiting tasks of '{job.id}' require"):
            return job.with_slots(await self._unfinished.required_slots(report, slots_per_node), slots_per_node)
        return job


class _Requests:
    """Requests about other jobs; `answers` are the jobs with what holds them, and stay when a later request fails."""

    def __init__(self, live: LiveEvidence, source: BatchAccount, unknown: UnknownFacts) -> None:
        self._evidence = live.evidence(source)
        self._dependencies = live.dependencies(self._evidence)
        self._unknown = unknown
        self.answers: dict[str, CompetingJob] = {}
        self.failed = 0

    async def send(self, jobs: Sequence[tuple[JobReport, CompetingJob]]) -> None:
        """Asks about the first jobs, then about more until one could start a task or too many requests have failed.

        Raises BatchThrottledError when requests must stop.
        """
        for number, (report, job) in enumerate(jobs):
            if number >= _ENOUGH_ANSWERS and not all(answer.is_held for answer in self.answers.values()):
                return
            if self.failed == _MAX_FAILED:
                self._unknown.add(f"No more jobs were looked at after {_MAX_FAILED} failures, so {_LEFT}")
                return
            with self._unknown.unasked(f"Whether the waiting tasks of '{job.id}' could start"):
                self.answers[report.job.key] = await self._ask(report, job)
                continue
            self.failed += 1

    async def _ask(self, report: JobReport, job: CompetingJob) -> CompetingJob:
        if job.rules.uses_task_dependencies:
            job = replace(job, dependencies=await self._dependencies.read(report, UnknownFacts()))
        if not job.counts.running and (await self._evidence.fetch_job(job.id)).awaits_preparation:
            found, _ = await self._evidence.fetch_preparation(job.id)
            job = replace(job, is_prepared=bool(found.succeeded) or not found.failed_nodes)
        return job


def _in_line(evidence: Evidence, jobs: Mapping[str, CompetingJob]) -> list[str]:
    """Returns the keys of jobs before this one or of the same rank, by priority, those with the most slots first."""
    ahead = [key for key, job in jobs.items() if job.is_in_line and evidence.rank_of(job) <= evidence.rank]
    ordered = sorted(ahead, key=lambda key: (-jobs[key].priority, -jobs[key].contending_slots, key))
    return ordered if evidence.waiting_tasks and not evidence.deleted else []


def _is_wide(job: CompetingJob) -> bool:
    """Returns whether some of the job's waiting tasks require several slots."""
    return job.waiting_slots > job.counts.active


def _is_uncertain(job: CompetingJob) -> bool:
    """Returns whether storage doesn't decide if a waiting task of the job could start."""
    return job.fits and (job.rules.uses_task_dependencies or not job.running)


def competing_job_of(report: JobReport, rate: PoolRate | None) -> CompetingJob | None:
    """Returns None for a job without running or waiting tasks; `rate` is that of its pool."""
    snapshot, facts = report.job.snapshot, report.job.facts
    if snapshot is None or facts.state == COMPLETED or snapshot.counts.completed == snapshot.counts.total:
        return None
    counts, forecast = snapshot.counts, forecast_of(report.job, report.verdict)
    statistics = forecast.statistics if forecast else None
    return CompetingJob(
        id=facts.id,
        priority=facts.priority or 0,
        state=facts.state,
        rules=facts.rules,
        counts=counts,
        running_slots=statistics.running_slots + statistics.preparing_slots
        if statistics
        else counts.running + counts.preparing,
        waiting_slots=statistics.active_slots if statistics else counts.active,
        creation_time=facts.creation_time,
        per_minute=rate.of_jobs.get(report.job.key, 0.0) if rate else 0.0,
    )
