"""The results of a running round, and its final row and reasons for a poll on demand."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.accounts.operations import JobMessage, Reason
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import Confirmation
from shared.domain.polling.rounds import ROUND_WAITS, WHOLE, Round, RoundResult, mark_until
from shared.services.jobs.discovery import Discovery
from shared.services.reading.task_poll import PollResult
from shared.services.round.resource_state import ResourceRoundState


@dataclass(slots=True)
class RoundState(ResourceRoundState):
    """The state of a running round.

    Keys are job keys; `wanted` None means every live job, `deadline` is in loop time. `thorough` rounds, which somebody
    requested, poll settled jobs like others. `queued` are jobs that need a message, each with the time until which no
    other is sent. `wanting` are polled jobs that need more than a delta; `noted` is the round's row once written.
    `behind` are queued jobs with more changes than a round may read. `listed` is set once listing jobs succeeded or
    failed; `beside` are problems of pools and schedules. `dependents` are polled jobs whose waiting tasks may depend on
    others, `failing` those with failed tasks.
    """

    last: Round | None
    wanted: frozenset[str] | None
    deadline: float
    thorough: bool = False
    discovery: Discovery | None = None
    confirmations: dict[str, Confirmation] = field(default_factory=dict)
    wanting: list[PollResult] = field(default_factory=list)
    overtaken: dict[str, str] = field(default_factory=dict)
    polled: set[str] = field(default_factory=set)
    queued: dict[str, datetime] = field(default_factory=dict)
    behind: frozenset[str] = frozenset()
    noted: Round | None = None
    listed: asyncio.Event = field(default_factory=asyncio.Event)
    beside: list[str] = field(default_factory=list)
    dependents: list[Job] = field(default_factory=list)
    failing: list[Job] = field(default_factory=list)

    async def jobs_of_schedules(self) -> dict[str, Job]:
        """Returns jobs of job schedules by key, also deleted ones, once jobs were listed."""
        await self.listed.wait()
        jobs = self.discovery.jobs if self.discovery else {}
        return {key: job for key, job in jobs.items() if job.facts.schedule_id}

    def may_continue(self, deadline: float | None = None) -> bool:
        """Returns False after the deadline (an earlier `deadline` if given), or if the service requests back-off."""
        return self.throttled is None and asyncio.get_running_loop().time() < (deadline or self.deadline)

    def is_elsewhere(self, job: Job, now: datetime) -> bool:
        """Returns whether the job is left to the receiver of its message.

        That holds for first reads and for jobs with more changes than a round may read; deltas of others continue.
        """
        is_left = job.snapshot is None or job.key in self.behind
        return is_left and not self.thorough and self.is_in_queue(job, now)

    def is_in_queue(self, job: Job, now: datetime) -> bool:
        """Returns whether a message about the job is waiting or being processed."""
        return self.last is not None and self.last.is_queued(job.key, now)

    def queue(self, job: Job, now: datetime) -> None:
        """Leaves a job to the queue, unless it is there already."""
        if not self.is_in_queue(job, now):
            self.queued[job.key] = mark_until(self.last.queued.get(job.key) if self.last else None, now)

    def leave_rest(self, now: datetime) -> None:
        """Leaves the jobs without a turn to another round of the account, by one message for all of them."""
        self.queued[WHOLE] = now + ROUND_WAITS

    def messages(self, account_id: str) -> list[JobMessage]:
        """Returns the messages to send about jobs, and about the account itself."""
        jobs = self.discovery.jobs if self.discovery else {}
        queued = sorted(self.queued.items()) if self.discovery else ()
        return [
            JobMessage(account_id, None) if key == WHOLE else JobMessage(account_id, jobs[key].facts.id, until)
            for key, until in queued
        ]

    def note_tasks(self, job: Job) -> None:
        """Notes a polled job if tasks of it wait and may depend on others, or failed."""
        if job.snapshot and job.snapshot.counts.failed:
            self.failing.append(job)
        if job.facts.rules.uses_task_dependencies and job.snapshot and job.snapshot.counts.active:
            self.dependents.append(job)

    @property
    def has_news(self) -> bool:
        """Whether jobs changed, or others than in the last round couldn't be polled."""
        if self.last is None or self.discovery is None or not self.last.succeeded:
            return True
        is_changed = self.discovery.changed or self.polled - self.confirmations.keys()
        return bool(is_changed) or self.failures.keys() != self.last.failures.keys()

    def confirm(self, polled: PollResult) -> None:
        """Records a poll's confirmation of a stored job, if it has one."""
        if polled.confirmation:
            self.confirmations[polled.job.key] = polled.confirmation

    def as_round(self, started: datetime, now: datetime, calls: int) -> Round:
        """Returns the round's row, if it ended `now`; `calls` are requests to Batch since it `started`."""
        discovery = self.discovery
        found = RoundResult(
            date=discovery.date if discovery else None,
            was_full=discovery.was_full if discovery else False,
            live=frozenset(job.key for job in discovery.live()) if discovery else None,
            polled=frozenset(self.polled),
            confirmations=self.confirmations,
            failures=self.failures,
            queued=self.queued if discovery else {},
        )
        backoff = now + self.throttled.retry_after if self.throttled else None
        whole = started if self.wanted is None else (self.last.whole_round_at if self.last else None)
        return Round(
            started_at=started,
            whole_round_at=whole,
            finished_at=now,
            reason=self.reason,
            batch_calls=calls,
            backoff_until=backoff,
        ).after(self.last, found)

    def reasons(self, wanted: Collection[str] | None) -> tuple[Reason, ...]:
        """Returns the reasons, by job, why a poll on demand of the ids `wanted` (None: all) is incomplete."""
        whole = tuple(Reason(None, problem) for problem in (self.reason, *self.beside) if problem)
        if self.discovery is None:
            return whole
        jobs = self.discovery.jobs
        failed = [Reason(jobs[key].facts.id, message) for key, message in sorted(self.failures.items())]
        late = [
            Reason(job.facts.id, "The time of this round was over before its turn came; the next round begins with it.")
            for job in self.discovery.live()
            if not self.reason
            and job.key not in self.polled | self.overtaken.keys()
            and (self.wanted is None or job.key in self.wanted)
        ]
        failed += [Reason(jobs[key].facts.id, message) for key, message in sorted(self.overtaken.items())]
        unknown = [Reason(name, f"There is no job '{name}'.") for name in wanted or () if key_of(name) not in jobs]
        return (*whole, *failed, *late, *unknown)
