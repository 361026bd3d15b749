"""A round: one poll of an account's jobs. Its result, and when the next is due."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.core.stored_times import is_over, is_until
from shared.domain.jobs.snapshots import Confirmation
from shared.domain.polling.resource_rounds import ResourceRound

MESSAGE_COMES = timedelta(minutes=2)  # until work on it begins; later it counts as lost and is sent again
MESSAGE_LASTS = timedelta(minutes=10)  # the same for one sent again, as the queue may be long, and for the work itself
ROUND_WAITS = timedelta(minutes=2)  # for a message about a whole account, which ticks poll otherwise
MAX_WAIT = timedelta(minutes=15)  # for a back-off that the service requests
_MAX_DOUBLINGS = 3
_MAX_PUT_OFF = timedelta(minutes=5)
WHOLE = ""  # in place of a job's key: a round of the whole account


@dataclass(frozen=True, slots=True)
class Mark:
    """Records that a message about a job is queued or being processed, `until` then at most.

    `message` identifies the message processed last by the first `until` it was sent with; others are dropped until the
    mark ends. None: any message may be processed.
    """

    until: datetime
    message: datetime | None = None

    def is_known(self, now: datetime) -> bool:
        """Returns whether its message may still arrive: it is processed then, although another may have been sent."""
        return self.until + MESSAGE_LASTS > now


def mark_until(before: Mark | None, now: datetime) -> datetime:
    """Returns the end of the mark of a message sent `now`: later where no worker began on the previous one."""
    return now + (MESSAGE_LASTS if before and before.message is None else MESSAGE_COMES)


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The results of a round; `date` and `live` are None where its job list, or storing it, failed."""

    date: datetime | None
    was_full: bool
    live: frozenset[str] | None
    polled: frozenset[str]
    confirmations: Mapping[str, Confirmation]
    failures: Mapping[str, str]
    queued: Mapping[str, datetime] = field(default_factory=dict)

    def is_live(self, key: str) -> bool:
        """Returns whether a job is live, as far as known."""
        return self.live is None or key in self.live


@dataclass(frozen=True, slots=True)
class Round(ResourceRound[Confirmation]):
    """The last round of one account, as stored in its row.

    `whole_round_at` is when the last round of all jobs began, which polls of some jobs on demand don't move.
    `jobs_as_of` is the date of the last list whose jobs were all stored; the next delta of jobs starts there.
    `full_list_at` is the time of the last full list. No request is sent before `backoff_until`. `failed_rounds` counts
    failures in a row, which delay the next round. `queued` are jobs with a queued or running message; no round sends
    another meanwhile. `reached` are the jobs that this round polled, `left` those whose place in the queue it decided;
    neither is stored.
    """

    finished_at: datetime = field(kw_only=True)
    whole_round_at: datetime | None = None
    jobs_as_of: datetime | None = None
    full_list_at: datetime | None = None
    jobs_polled: int = 0
    jobs_failed: int = 0
    backoff_until: datetime | None = None
    failed_rounds: int = 0
    queued: Mapping[str, Mark] = field(default_factory=dict)
    reached: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()

    @property
    def succeeded(self) -> bool:
        return self.reason is None

    @property
    def was_run(self) -> bool:
        """False where no round has ended and the account was only left to the queue."""
        return self.as_of is not None or self.reason is not None

    def wait(self, now: datetime) -> timedelta | None:
        """Returns the remaining back-off that the service requested, None without one."""
        until = self.backoff_until
        return until - now if until and is_until(until, MAX_WAIT, now) else None

    def is_due(self, now: datetime, interval: timedelta) -> bool:
        """Returns whether the account's interval has passed and no back-off remains."""
        began = self.whole_round_at
        return not self.wait(now) and (began is None or is_over(began, self._pause(interval), now))

    def due_at(self, interval: timedelta) -> datetime:
        """Returns when the next round is due: an interval (less a tenth, as timers jitter) after the last one's start.

        From the second failure in a row, the interval doubles, up to eightfold or five minutes if that is less. It
        isn't due before a back-off ends.
        """
        turn = self.whole_round_at + self._pause(interval) if self.whole_round_at else None
        return max((wait for wait in (turn, self.backoff_until) if wait), default=self.started_at)

    def _pause(self, interval: timedelta) -> timedelta:
        """Returns the time from the start of the last round to that of the next."""
        repeats = min(max(self.failed_rounds - 1, 0), _MAX_DOUBLINGS)
        interval = min(interval * 2**repeats, max(interval, _MAX_PUT_OFF))
        return interval * 0.9

    def full_list_is_due(self, now: datetime, interval: timedelta) -> bool:
        return self.full_list_at is None or self.jobs_as_of is None or is_over(self.full_list_at, interval, now)

    def is_queued(self, key: str, now: datetime) -> bool:
        """Returns whether a message about the job is queued or being processed."""
        most = ROUND_WAITS if key == WHOLE else MESSAGE_LASTS
        return key in self.queued and is_until(self.queued[key].until, most, now)

    def waiting(self, until: datetime, reason: str | None = None) -> "Round":
        """Returns the round after the service requested a back-off until then, with a reason if it has none."""
        return replace(self, backoff_until=max(until, self.backoff_until or until), reason=self.reason or reason)

    def left_to_queue(self, now: datetime, until: datetime, interval: timedelta) -> "Round | None":
        """Returns the round with the mark of an account message; None where it isn't due or a message is queued."""
        if not self.is_due(now, interval) or self.is_queued(WHOLE, now):
            return None
        return replace(self, queued={**self.queued, WHOLE: Mark(until)})

    def claimed(self, key: str, message: datetime | None, now: datetime, until: datetime) -> "Round | None":
        """Returns the round with a mark for processing a job's message, None while another is being processed."""
        if self.is_queued(key, now) and self.queued[key].message not in {None, message}:
            return None
        return replace(self, queued={**self.queued, key: Mark(until, message)})

    def with_outcome(
        self,
        key: str,
        *,
        failure: str | None,
        queued_until: datetime | None = None,
        backoff_until: datetime | None = None,
    ) -> "Round":
        """Returns the round after a job's message was processed, with its failure, remaining work and back-off."""
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

    def after(self, last: "Round | None", found: RoundResult) -> "Round":
        """Returns this round with its results, and the last round's for jobs that it didn't reach."""
        before = last or Round(self.started_at, finished_at=self.finished_at)
        succeeded = found.polled - found.failures.keys()
        failures = {**before.failures, **found.failures}
        confirmations = {**before.confirmations, **found.confirmations}
        waiting = {key: mark for key, mark in before.queued.items() if mark.is_known(self.finished_at)}
        queued = {key: Mark(until) for key, until in found.queued.items()}
        whole = {WHOLE} if self.whole_round_at == self.started_at else set()
        return replace(
            self,
            as_of=found.date,
            failed_rounds=0 if self.succeeded else 1 + before.failed_rounds,
            jobs_as_of=found.date or before.jobs_as_of,
            full_list_at=self.finished_at if found.was_full else before.full_list_at,
            queued={**{key: mark for key, mark in waiting.items() if key not in whole}, **queued},
            reached=found.polled,
            left=frozenset(found.queued.keys() | whole),
            jobs_polled=len(found.polled),
            jobs_failed=len(found.failures),
            confirmations={key: value for key, value in confirmations.items() if found.is_live(key)},
            failures={key: why for key, why in failures.items() if key not in succeeded and found.is_live(key)},
            etag=before.etag,
        )

    def merged(self, stored: "Round") -> "Round":
        """Merges this round with one that another process stored meanwhile.

        The later result for every job wins, and so do the later lists and the longer back-off.
        """
        confirmations = dict(stored.confirmations)
        for key, confirmation in self.confirmations.items():
            other = confirmations.get(key)
            confirmations[key] = confirmation.merged(other) if other else confirmation
        failures = {key: reason for key, reason in stored.failures.items() if key not in self.reached}
        failures |= {key: reason for key, reason in self.failures.items() if key in self.reached}
        queued = {key: mark for key, mark in stored.queued.items() if key not in self.left}
        queued |= {key: mark for key, mark in self.queued.items() if key in self.left}
        backoff_until = _later(self.backoff_until, stored.backoff_until)
        return replace(
            self,
            reason=self.reason or (stored.reason if backoff_until != self.backoff_until else None),
            whole_round_at=_later(self.whole_round_at, stored.whole_round_at),
            as_of=_later(self.as_of, stored.as_of),
            jobs_as_of=_later(self.jobs_as_of, stored.jobs_as_of),
            full_list_at=_later(self.full_list_at, stored.full_list_at),
            confirmations=confirmations,
            failures=failures,
            queued=queued,
            backoff_until=backoff_until,
            etag=stored.etag,
        )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time), default=None)
