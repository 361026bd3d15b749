"""Polls of an account's job schedules, beside the round over its jobs: one list shows all of them.

Schedules that may still change are polled every round; otherwise now and then, or when a job of an unknown schedule is
listed. In between, an account without schedules costs neither requests nor storage operations. Schedules are cached
while this process polled last, and read from storage now and then.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from shared.clock import Clock
from shared.domain.core.keys import key_of
from shared.domain.core.stored_times import is_over, is_until
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.polling.schedule_rounds import ScheduleRound, poll_is_due
from shared.domain.schedules.schedules import Schedule, ScheduleFacts
from shared.errors import BatchMissingError, BatchscopeError, CacheConflictError
from shared.log import logger
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.services.schedules.schedules_round_state import ScheduledJobs, SchedulesRoundState
from shared.stores.batch.batch_schedules import BatchSchedules
from shared.stores.schedules import KnownSchedules, ScheduleStore
from shared.stores.tables.unreadable import warn_of

_LOG = logger(__name__)
_LOOK_UPS = 50  # per round, after a purge of many schedules


class ScheduleRounds:
    """Polls the schedules of one account, one poll at a time; ETags detect writes of other processes.

    While no known schedule may change, the full list interval is the time between two polls.
    """

    def __init__(self, source: BatchSchedules, store: ScheduleStore, clock: Clock, rules: RoundRules) -> None:
        self.source = source
        self._key = source.account.key
        self._store = store
        self._clock = clock
        self._idle = rules.full_list_interval
        self._horizon = rules.horizon
        self._until: datetime | None = None
        self._as_of: datetime | None = None
        self._existing: frozenset[str] = frozenset()
        self._reported: set[tuple[str, datetime]] = set()
        self._read_at: datetime | None = None

    async def run(
        self, scheduled_jobs: ScheduledJobs, has_time: Callable[[], bool], *, thorough: bool = False
    ) -> ResourceRoundResult:
        """Polls schedules, if due; records and returns Batch's errors.

        `scheduled_jobs` returns the jobs of schedules by key, once jobs were listed. It is called only if nothing else,
        such as `thorough`, calls for a poll, or if counting needs a job. Raises StorageError and CacheConflictError.
        """
        started = await self._clock.now()
        is_idle = not thorough and self._until is not None and is_until(self._until, self._idle, started)
        if is_idle and not await self._finds_unknown_schedules(scheduled_jobs):
            return ResourceRoundResult()
        try:
            return await self._poll_if_due(scheduled_jobs, has_time, started, thorough=thorough, is_idle=is_idle)
        except BatchscopeError:  # of storage: the next round looks
            self._reported = set()
            raise

    async def _poll_if_due(
        self,
        scheduled_jobs: ScheduledJobs,
        has_time: Callable[[], bool],
        started: datetime,
        *,
        thorough: bool,
        is_idle: bool,
    ) -> ResourceRoundResult:
        known = await self._load(started, anew=thorough)
        due = thorough or poll_is_due(known.last, known.resources.values(), started, idle=self._idle)
        if not due and not is_idle and known.last:
            self._idle_after(known.last, known.resources.values())
            if not await self._finds_unknown_schedules(scheduled_jobs):
                return ResourceRoundResult()
        warn_of(self._key, known.unreadable.values())
        return await self._poll(SchedulesRoundState(known, has_time, scheduled_jobs), started)

    async def _load(self, now: datetime, *, anew: bool) -> KnownSchedules:
        """Returns known schedules, once per full list interval from storage, which finds rows of dead processes."""
        if anew or self._read_at is None or is_over(self._read_at, self._idle, now):
            self._store.forget(self._key)
            self._read_at = now
        return await self._store.load_known(self._key)

    def _idle_after(self, last: ScheduleRound, schedules: Iterable[Schedule]) -> None:
        """Sets the time until which only jobs of unknown schedules call for a poll."""
        self._until = last.started_at + self._idle
        self._as_of = last.as_of or last.started_at
        self._existing = frozenset(schedule.key for schedule in schedules if not schedule.deleted)

    async def _finds_unknown_schedules(self, scheduled_jobs: ScheduledJobs) -> bool:
        """Returns whether jobs of unknown schedules exist; once for each job, as its schedule may be deleted by now.

        A later job than the last poll is of an unknown one, too: completed schedules create none, re-created ones may.
        """
        jobs = [job.facts for job in (await scheduled_jobs()).values() if not job.deleted]
        keys = [(key_of(facts.schedule_id or ""), facts.creation_time) for facts in jobs]
        others = {
            (key, made) for key, made in keys if key not in self._existing or (self._as_of and made > self._as_of)
        }
        news, self._reported = others - self._reported, others
        return bool(news)

    async def _poll(self, this: SchedulesRoundState, started: datetime) -> ResourceRoundResult:
        calls, self._until = self.source.calls, None
        await this.run(f"over the job schedules of {self.source.account.id}", self._list, self._specify, self._settle)
        done = await self._save(this, started, self.source.calls - calls)
        if not poll_is_due(done, this.schedules.values(), started, idle=self._idle):
            self._idle_after(done, this.schedules.values())
        return this.result("Job schedules", done.problem)

    async def _list(self, this: SchedulesRoundState) -> None:
        """Lists schedules, and looks up missing ones."""
        listed = await self.source.fetch_schedules()
        this.date = listed.date
        existing = {facts.key: facts for facts in listed.resources}
        this.failures |= {key: row.why for key, row in this.known.unreadable.items()} | dict(listed.nonsense)
        known = this.schedules.keys() | this.known.unreadable.keys()
        for key, facts in existing.items():
            if key in known or not self._is_past(facts, listed.date):
                this.show(facts, listed.date)
        this.shown |= existing.keys()
        seen = existing.keys() | listed.nonsense.keys()
        there = ((key, schedule.facts.id) for key, schedule in sorted(this.schedules.items()) if not schedule.deleted)
        missing = [(key, name) for key, name in there if key not in seen][:_LOOK_UPS]
        unread = [(key, row.id) for key, row in sorted(this.known.unreadable.items()) if key not in seen][:_LOOK_UPS]
        for key, name in missing + unread:
            if this.may_continue():
                await self._look_up(this, key, name, listed.date)

    def _is_past(self, facts: ScheduleFacts, now: datetime) -> bool:
        return facts.state == COMPLETED and facts.state_transition_time < now - self._horizon

    async def _look_up(self, this: SchedulesRoundState, key: str, name: str, date: datetime) -> None:
        """Looks up an unlisted schedule, which is deleted only if a GET answers 404; then an unreadable row is, too.

        A schedule re-created after the list is left to the next poll: nothing is known of it as of `date`.
        """
        schedule = this.schedules.get(key)
        try:
            facts = await self.source.fetch_schedule(name)
            if facts.creation_time <= date:
                this.show(facts, date)
        except BatchMissingError:
            if schedule:
                this.schedules[key] = schedule.gone(date, this.before(schedule))
            else:
                with suppress(CacheConflictError):  # another process wrote it meanwhile
                    await self._store.delete_unreadable(self._key, this.known.unreadable[key])
        except BatchscopeError as error:
            this.fail_each([key], error)

    async def _specify(self, this: SchedulesRoundState) -> None:
        """Reads the job specifications of new and modified schedules, all by one list."""
        wanted = [schedule for schedule in this.schedules.values() if schedule.wants_specification]
        if not wanted or not this.may_continue():
            return
        since = min(schedule.facts.last_modified for schedule in wanted)
        try:
            found_by_key = await self.source.fetch_specifications(modified_since=since)
        except BatchscopeError as error:
            this.fail_each((schedule.key for schedule in wanted), error)
            return
        for schedule in wanted:
            found = found_by_key.get((schedule.key, schedule.facts.last_modified))
            if isinstance(found, str):
                this.schedules[schedule.key] = schedule.specified(None, unspecified=found)
            elif found is not None:  # otherwise modified since it was listed: the next list shows both
                this.schedules[schedule.key] = schedule.specified(*found)

    async def _settle(self, this: SchedulesRoundState) -> None:
        """Records the run of the first counted job, while that job is known.

        A job created after the list may be that of a schedule re-created since.
        """
        wanted = [schedule for schedule in this.schedules.values() if schedule.first_counted_job]
        jobs = await this.scheduled_jobs() if wanted else {}
        for schedule in wanted:
            job = jobs.get(key_of(schedule.first_counted_job or ""))
            if job and job.facts.creation_time <= this.as_of(schedule):
                this.schedules[schedule.key] = schedule.counted_from(job.facts.creation_time)

    async def _save(self, this: SchedulesRoundState, started: datetime, calls: int) -> ScheduleRound:
        """Writes changed schedules, then the results of the poll, which it returns."""
        stored, overtaken = await self._save_schedules(this)
        last = this.known.last
        existing = {key: schedule for key, schedule in this.schedules.items() if not schedule.deleted}
        listed = {key: schedule.version for key, schedule in existing.items() if key in this.shown - overtaken}
        unsure = existing.keys() - this.shown
        unsure |= {
            key
            for key, old in this.known.resources.items()
            if (key in overtaken and not old.deleted) or (old.deleted and last is not None and last.is_overtaken(old))
        }
        held = {key: this.held(key) for key in unsure}
        states = Counter(schedule.facts.state for schedule in existing.values())
        whole = last or ScheduleRound(started)
        if this.date:
            whole = ScheduleRound(started, this.date, confirmations=listed, states=states, held=held)
        done = replace(
            whole,
            started_at=started,
            reason=this.reason,
            batch_calls=calls,
            failures=this.failures,
            etag=last.etag if last else None,
        )
        await self._store.save_round(self._key, done, stored)
        return done

    async def _save_schedules(self, this: SchedulesRoundState) -> tuple[dict[str, Schedule] | None, set[str]]:
        """Writes changed schedules; returns all as stored, None if uncertain, and the keys that others wrote first."""
        older = await self._stored_later(this)
        changed = [this.written(schedule) for schedule in this.changed() if schedule.key not in older]
        this.has_written |= bool(changed)
        ends = await self._store.save_all(self._key, changed) if changed else []
        stored = {end.key: end for end in ends if isinstance(end, Schedule)}
        if overtaken := ({schedule.key for schedule in changed} - stored.keys()) | older:
            _LOG.info("Others read job schedules of %s first: %s", self.source.account.id, ", ".join(sorted(overtaken)))
        is_sure = not overtaken and not this.known.unreadable
        return {**this.known.resources, **stored} if is_sure else None, overtaken

    async def _stored_later(self, this: SchedulesRoundState) -> set[str]:
        """Returns changed schedules that a faster poll stored with a later date.

        They are left to that poll, or to the next one.
        """
        changed = [schedule.key for schedule in this.changed() if schedule.key not in this.known.unreadable]
        last = await self._store.load_round(self._key) if changed else None
        if last is None or last.as_of is None or this.date is None or last.as_of <= this.date:
            return set()
        later = {key for key, (_, as_of) in last.holding().items() if as_of > this.date}
        return {key for key in changed if key not in this.known.resources or key in later}
