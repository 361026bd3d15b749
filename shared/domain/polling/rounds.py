"""A round: one pass over an account. What it leaves behind, and when the next is due."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.core.stored_times import is_over, is_until
from shared.domain.jobs.pictures import Confirmation

MESSAGE_COMES = timedelta(minutes=2)  # until work on it has begun, or it is taken for lost and sent again
MESSAGE_LASTS = timedelta(minutes=10)  # the same of one sent again, as the queue may be long; and of the work itself
ROUND_WAITS = timedelta(minutes=2)  # of a message about a whole account, which ticks poll otherwise
LONGEST_WAIT = timedelta(minutes=15)  # for a service that asks to be left alone
_MOST_DOUBLINGS = 3
_LONGEST_PUT_OFF = timedelta(minutes=5)
WHOLE = ""  # among the keys of jobs: a round of the whole account


@dataclass(frozen=True, slots=True)
class Mark:
    """A message about a job is on its way or being worked on, `until` then at most.

    `message` is the one that was worked on last, by the `until` it was first sent with: others are dropped meanwhile.
    None where any message may be worked on.
    """

    until: datetime
    message: datetime | None = None

    def is_known(self, now: datetime) -> bool:
        """True while its message may still come: it is worked on then, although another one may be sent."""
        return self.until + MESSAGE_LASTS > now


def mark_until(before: Mark | None, now: datetime) -> datetime:
    """When the mark of a message that is sent `now` ends: later where nobody began on the one of before."""
    return now + (MESSAGE_LASTS if before and before.message is None else MESSAGE_COMES)


@dataclass(frozen=True, slots=True)
class Found:
    """What a round found; `date` and `live` are None where its job list failed or couldn't be noted whole."""

    date: datetime | None
    was_full: bool
    live: frozenset[str] | None
    polled: frozenset[str]
    confirmations: Mapping[str, Confirmation]
    failures: Mapping[str, str]
    queued: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round:
    """The last round of one account, as its row in storage holds it.

    `whole_round_at` is when the last round of all jobs began: polls of some on demand don't put off the others' turn.
    `as_of` is the date of its job list, None where that failed; `jobs_as_of` that of the last list whose jobs were all
    noted, from which the next delta of jobs starts; `full_list_at` is when the last full list was. `confirmations` and
    `failures` are by job key: jobs that a poll found unchanged cost no row of their own. No call goes out before
    `backoff_until`; `failed_rounds` is how many in a row have failed, which puts off the next. `queued` are jobs
    for which a message is on its way, or being worked on; no round sends another meanwhile. `reached` are
    the jobs that this round itself polled, `left` those whose place in the queue it has settled; neither is stored.
    """

    started_at: datetime
    finished_at: datetime
    whole_round_at: datetime | None = None
    as_of: datetime | None = None
    reason: str | None = None
    jobs_as_of: datetime | None = None
    full_list_at: datetime | None = None
    jobs_polled: int = 0
    jobs_failed: int = 0
    batch_calls: int = 0
    backoff_until: datetime | None = None
    confirmations: Mapping[str, Confirmation] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    failed_rounds: int = 0
    queued: Mapping[str, Mark] = field(default_factory=dict)
    reached: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    etag: str | None = None

    @property
    def succeeded(self) -> bool:
        return self.reason is None

    @property
    def was_run(self) -> bool:
        """False where no round has ended yet: the account was but left to the queue."""
        return self.as_of is not None or self.reason is not None

    def failure_of(self, key: str, looked_at: datetime | None) -> str | None:
        """Why the job `key`, last looked at then, isn't up to date: its own failure, or that of the round."""
        if key in self.failures:
            return self.failures[key]
        reached = self.as_of is not None and looked_at is not None and looked_at >= self.as_of
        return None if reached else self.reason

    def wait(self, now: datetime) -> timedelta | None:
        """How long the service asked to be left alone yet."""
        until = self.backoff_until
        return until - now if until and is_until(until, LONGEST_WAIT, now) else None

    def is_due(self, now: datetime, interval: timedelta) -> bool:
        """True when the account's interval has passed and nothing asks to wait."""
        began = self.whole_round_at
        return not self.wait(now) and (began is None or is_over(began, self._pause(interval), now))

    def due_at(self, interval: timedelta) -> datetime:
        """When the next round is due: an interval (less a tenth, as timers jitter) after the last, later if it failed.

        From the second failure in a row on the interval doubles, up to eightfold, or five minutes if that is less.
        """
        turn = self.whole_round_at + self._pause(interval) if self.whole_round_at else None
        return max((wait for wait in (turn, self.backoff_until) if wait), default=self.started_at)

    def _pause(self, interval: timedelta) -> timedelta:
        """From the beginning of the last round to that of the next one."""
        repeats = min(max(self.failed_rounds - 1, 0), _MOST_DOUBLINGS)
        interval = min(interval * 2**repeats, max(interval, _LONGEST_PUT_OFF))
        return interval * 0.9

    def full_list_is_due(self, now: datetime, interval: timedelta) -> bool:
        return self.full_list_at is None or self.jobs_as_of is None or is_over(self.full_list_at, interval, now)

    def is_queued(self, key: str, now: datetime) -> bool:
        """True while a message about the job is on its way or being worked on."""
        most = ROUND_WAITS if key == WHOLE else MESSAGE_LASTS
        return key in self.queued and is_until(self.queued[key].until, most, now)

    def waiting(self, until: datetime) -> "Round":
        """After the service asked, besides, to be left alone until then."""
        return replace(self, backoff_until=max(until, self.backoff_until or until))

    def left_to_queue(self, now: datetime, until: datetime, interval: timedelta) -> "Round | None":
        """With the mark of a message about the account; None where its round isn't due, or one is on its way."""
        if not self.is_due(now, interval) or self.is_queued(WHOLE, now):
            return None
        return replace(self, queued={**self.queued, WHOLE: Mark(until)})

    def claimed(self, key: str, message: datetime | None, now: datetime, until: datetime) -> "Round | None":
        """While a message about a job is worked on, however long that had waited; None where another one is."""
        if self.is_queued(key, now) and self.queued[key].message not in {None, message}:
            return None
        return replace(self, queued={**self.queued, key: Mark(until, message)})

    def told(
        self,
        key: str,
        *,
        failure: str | None,
        queued_until: datetime | None = None,
        backoff_until: datetime | None = None,
    ) -> "Round":
        """After a message about a job was worked on: what went wrong, whether more is to be done, how long to wait."""
        failures = {name: reason for name, reason in self.failures.items() if name != key}
        queued = {name: mark for name, mark in self.queued.items() if name != key}
        if queued_until:
            message = self.queued[key].message if key in self.queued else None
            queued[key] = Mark(queued_until, message)
        return replace(
            self,
            failures={**failures, key: failure} if failure else failures,
            queued=queued,
            backoff_until=_later(self.backoff_until, backoff_until),
        )

    def after(self, last: "Round | None", found: Found) -> "Round":
        """This round completed by what it found, and by what the last one knew of jobs that it didn't reach."""
        succeeded = found.polled - found.failures.keys()
        failures = {**(last.failures if last else {}), **found.failures}
        confirmations = {**(last.confirmations if last else {}), **found.confirmations}
        waiting = {key: mark for key, mark in last.queued.items() if mark.is_known(self.finished_at)} if last else {}
        queued = {key: Mark(until) for key, until in found.queued.items()}
        whole = {WHOLE} if self.whole_round_at == self.started_at else set()
        return replace(
            self,
            as_of=found.date,
            failed_rounds=0 if self.succeeded else 1 + (last.failed_rounds if last else 0),
            jobs_as_of=found.date or (last.jobs_as_of if last else None),
            full_list_at=self.finished_at if found.was_full else (last.full_list_at if last else None),
            queued={**{key: mark for key, mark in waiting.items() if key not in whole}, **queued},
            reached=found.polled,
            left=frozenset(found.queued.keys() | whole),
            jobs_polled=len(found.polled),
            jobs_failed=len(found.failures),
            confirmations={
                key: value for key, value in confirmations.items() if found.live is None or key in found.live
            },
            failures={
                key: value
                for key, value in failures.items()
                if key not in succeeded and (found.live is None or key in found.live)
            },
            etag=last.etag if last else None,
        )

    def merged(self, stored: "Round") -> "Round":
        """This round over one that another process stored meanwhile.

        The later word on every job stays, and so do the later lists and the longer wait for the service.
        """
        confirmations = dict(stored.confirmations)
        for key, confirmation in self.confirmations.items():
            other = confirmations.get(key)
            confirmations[key] = confirmation.merged(other) if other else confirmation
        failures = {key: reason for key, reason in stored.failures.items() if key not in self.reached}
        failures |= {key: reason for key, reason in self.failures.items() if key in self.reached}
        queued = {key: mark for key, mark in stored.queued.items() if key not in self.left}
        queued |= {key: mark for key, mark in self.queued.items() if key in self.left}
        return replace(
            self,
            whole_round_at=_later(self.whole_round_at, stored.whole_round_at),
            as_of=_later(self.as_of, stored.as_of),
            jobs_as_of=_later(self.jobs_as_of, stored.jobs_as_of),
            full_list_at=_later(self.full_list_at, stored.full_list_at),
            confirmations=confirmations,
            failures=failures,
            queued=queued,
            backoff_until=_later(self.backoff_until, stored.backoff_until),
            etag=stored.etag,
        )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time), default=None)
