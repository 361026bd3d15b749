"""State transitions of job schedules, which create jobs `schedule:job-1`, `schedule:job-2`, … by their rules.

Source: the reference of Schedule. One job is active at a time. A job that is due while the previous one runs begins
after that, if still within the start window; else its run is lost. The speed shortens intervals.
"""

from functools import partial

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.stamps import LATEST, SECOND, parse_stamp, ticks
from local.batch_emulator.entities import Account, Job, Schedule
from local.batch_emulator.simulation.jobs import JobTransitions
from local.batch_emulator.state.context import SimulationContext

_TRANSITION_SECONDS = (0.5, 2.0)
_ENDED = ("completed", "deleting")


class ScheduleTransitions:
    def __init__(self, account: Account, context: SimulationContext, jobs: JobTransitions) -> None:
        self._account = account
        self._context = context
        self._jobs = jobs

    def plan(self, schedule: Schedule) -> None:
        """Applies the present rules of a new or changed schedule."""
        rules = schedule.spec.get("schedule") or {}
        schedule.not_before = _moment(rules.get("doNotRunUntil"))
        schedule.not_after = _moment(rules.get("doNotRunAfter"))
        schedule.turn += 1
        self._mark_changed(schedule)
        if not schedule.jobs_made:
            schedule.next_run = max(self._context.now, schedule.not_before or 0)
        elif interval := self._interval(schedule):
            schedule.next_run = max(self._context.now, schedule.next_run or _later(self._context.now, interval))
        else:
            schedule.next_run = None
        self._plan_events(schedule)

    def disable(self, schedule: Schedule) -> None:
        schedule.turn += 1
        self._set(schedule, "disabled")

    def enable(self, schedule: Schedule) -> None:
        schedule.turn += 1
        self._set(schedule, "active")
        self._plan_events(schedule)

    def terminate(self, schedule: Schedule) -> None:
        schedule.turn += 1
        self._set(schedule, "terminating")
        if schedule.job and schedule.job.state != "terminating":
            self._jobs.terminate(schedule.job, "TerminateJobSchedule")
        self._context.between(_TRANSITION_SECONDS, partial(self._complete_if_over, schedule))

    def delete(self, schedule: Schedule) -> None:
        """Deletes the schedule and its jobs (documented)."""
        schedule.turn += 1
        self._set(schedule, "deleting")
        for job in [job for job in self._account.jobs.values() if job.schedule is schedule]:
            if job.state != "deleting":
                self._jobs.delete(job)
        self._context.between(_TRANSITION_SECONDS, partial(self._go_if_empty, schedule))

    def job_ended(self, job: Job) -> None:
        schedule = job.schedule
        if schedule is None:
            return
        if schedule.state == "deleting":
            self._go_if_empty(schedule)
        elif schedule.job is job:
            schedule.job = None
            self._mark_changed(schedule)
            self._complete_if_over(schedule)
            if schedule.due is not None and schedule.state == "active":
                self._begin_if_in_window(schedule)

    def _plan_events(self, schedule: Schedule) -> None:
        turn = schedule.turn
        for moment, then in ((schedule.next_run, self._fire), (schedule.not_after, self._passed)):
            if moment is not None:
                seconds = max(0, moment - self._context.now) / SECOND
                self._context.event_queue.after_exactly(seconds, partial(then, schedule, turn))

    def _fire(self, schedule: Schedule, turn: int) -> None:
        now, due = self._context.now, schedule.next_run
        if schedule.turn != turn or due is None:
            return
        if schedule.not_after is not None and now > schedule.not_after:
            self._complete_if_over(schedule)
            return
        interval = self._interval(schedule)
        missed = (now - due) // interval * interval if interval else 0
        schedule.due = due + missed
        self._mark_changed(schedule)
        schedule.next_run = _later(schedule.due, interval) if interval else None
        if schedule.job is None:
            self._begin_if_in_window(schedule)
        if schedule.next_run is not None:
            seconds = (schedule.next_run - now) / SECOND
            self._context.event_queue.after_exactly(seconds, partial(self._fire, schedule, turn))

    def _begin_if_in_window(self, schedule: Schedule) -> None:
        due, schedule.due = schedule.due or 0, None
        window = (schedule.spec.get("schedule") or {}).get("startWindow")
        if window and self._context.now > due + ticks(seconds_of(window) / self._context.event_queue.speed):
            self._complete_if_over(schedule)
            return
        schedule.jobs_made += 1
        name = f"{schedule.id}:job-{schedule.jobs_made}"
        schedule.job = self._jobs.begin(name, dict(schedule.spec["jobSpecification"]), schedule)
        schedule.recent = name

    def _passed(self, schedule: Schedule, turn: int) -> None:
        if schedule.turn == turn:
            schedule.next_run = schedule.due = None
            self._mark_changed(schedule)
            self._complete_if_over(schedule)

    def _complete_if_over(self, schedule: Schedule) -> None:
        is_over = schedule.state == "terminating" or (schedule.next_run is None and schedule.due is None)
        if schedule.job is None and is_over and schedule.state not in _ENDED:
            schedule.turn += 1
            schedule.ended = self._context.now
            schedule.next_run = schedule.due = None
            self._set(schedule, "completed")

    def _go_if_empty(self, schedule: Schedule) -> None:
        if not any(job.schedule is schedule for job in self._account.jobs.values()):
            self._account.schedules.pop(schedule.key, None)
            self._context.change_log.mark_deleted(schedule, self._account)

    def _interval(self, schedule: Schedule) -> int:
        text = (schedule.spec.get("schedule") or {}).get("recurrenceInterval")
        return max(1, ticks(seconds_of(text) / self._context.event_queue.speed)) if text else 0

    def _set(self, schedule: Schedule, state: str) -> None:
        schedule.previous, schedule.previous_changed = schedule.state, schedule.changed
        schedule.state, schedule.changed = state, self._context.now
        self._mark_changed(schedule)

    def _mark_changed(self, schedule: Schedule) -> None:
        self._context.mark_changed(schedule, self._account)


def _later(moment: int, interval: int) -> int:
    return min(moment + interval, LATEST)


def _moment(text: str | None) -> int | None:
    return None if text is None else parse_stamp(text)
