"""What can go wrong, each with a message that says what, where and what to do.

Services and stores raise these; `functions/http.py` turns them into statuses and the poll into reasons.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.domain.jobs.jobs import JobFacts

_WORDS = {429: "is throttling (429)", 503: "is too busy to answer (503)"}


class BatchscopeError(Exception):
    """The root of all errors that are expected to happen."""


class SettingsError(BatchscopeError):
    """The app's settings don't allow it to work; `problems` names every one of them."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class NotFoundError(BatchscopeError):
    """A client named something that isn't there."""

    def __init__(self, kind: str, name: str, where: str = "") -> None:
        super().__init__(f"There is no {kind} '{name}'{where}.")
        self.kind = kind


class AmbiguousNameError(NotFoundError):
    """A client named an account by a name that several share."""

    def __init__(self, name: str, ids: tuple[str, ...]) -> None:
        super().__init__("account", name, f" alone: the name is shared by {' and '.join(ids)}, so say which one")


class MonitoringOffError(BatchscopeError):
    """A poll was asked for of an account that is switched off."""

    def __init__(self, account_id: str, reason: str) -> None:
        """`reason` is a sentence that says since when."""
        super().__init__(f'{reason} Switch it on first: PUT /api/accounts/{account_id}/monitoring {{"enabled": true}}.')


class BatchError(BatchscopeError):
    """The Batch service didn't give what was asked for."""


class BatchUnreachableError(BatchError):
    def __init__(self, endpoint: str, cause: str) -> None:
        super().__init__(f"{endpoint} can't be reached: {cause}")


class BatchThrottledError(BatchError):
    """429 or 503; `retry_after` is how long the whole account should be left alone."""

    def __init__(
        self, endpoint: str, retry_after: timedelta, *, status: int | None = None, cap: int | None = None
    ) -> None:
        """`status` is what the service answered just now; `cap` our own limit of calls a minute, where it was that."""
        if cap:
            why = f"was called {cap} times in a minute, all that MAX_BATCH_CALLS_PER_MINUTE allows"
        else:
            why = _WORDS.get(status or 0, "is left alone for now")
        super().__init__(f"{endpoint} {why}; the next try is in {retry_after.total_seconds():.0f} s.")
        self.retry_after = retry_after


class NoTurnError(BatchError):
    """A long read has to wait for calls for longer than it may go on: the rest is left to its next message."""


class BatchRefusedError(BatchError):
    """401 or 403: the credential is wrong or lacks a role."""


class BatchMissingError(BatchError):
    """404 with the service's own `code` for it, like JobNotFound: what was asked for doesn't exist (any more)."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class BatchAnswerError(BatchError):
    """An answer that makes no sense: another status, a body cut short, a link that leaves the account."""


class RepeatedLinkError(BatchAnswerError):
    """A list's next link leads back to a page that was read before."""

    def __init__(self, endpoint: str, intent: str) -> None:
        super().__init__(
            f"{endpoint} sent a next link twice to the request to {intent}, so the list never ends and wasn't used;"
            " if that lasts, see what answers in the service's place."
        )


class CacheConflictError(BatchscopeError):
    """Another poll of the same job wrote meanwhile; this one gives way and the next one converges."""


class RecreatedError(CacheConflictError):
    """Another job has the id now, as `facts` tell; what was read of its tasks is nobody's."""

    def __init__(self, facts: "JobFacts") -> None:
        super().__init__(f"The job '{facts.id}' was re-created while it was read.")
        self.facts = facts


class OvertakenError(CacheConflictError):
    """Other processes were first each time that a job's poll was tried: it is theirs for now."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Another process is reading '{job_id}' meanwhile.")


class LongReadError(BatchscopeError):
    """A job's tasks are too many to be read within a round."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"The tasks of '{job_id}' take longer to read than a round may; that goes on by itself.")


class UnreadableTasksError(LongReadError):
    """The same of a job whose stored tasks can't be read, and have to be replaced all at once."""


class StorageError(BatchscopeError):
    """Table Storage didn't do what was asked for."""


class StorageUnavailableError(StorageError):
    """Table Storage gave no answer, or only that it is busy; asking again later may help."""

    retry_after = timedelta(seconds=5)

    def __init__(self, intent: str, cause: str) -> None:
        super().__init__(
            f"Table Storage didn't {intent}: {cause.rstrip('.')}. The next try may help; if this lasts, see the storage"
            " account's state and the network rules between it and the app."
        )


class UnreadableError(StorageError):
    """What is stored makes no sense to this version: it is damaged, or a newer one wrote it."""


class BlobError(BatchscopeError):
    """Blob Storage didn't do what was asked for."""


class BlobChangedError(BlobError):
    """A blob isn't any more what it was when it was seen; looking at it again tells what it is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} was written meanwhile.")


class HistoryRangeError(BatchscopeError):
    """The range or the step of a history makes no sense; `target` names the parameter."""

    def __init__(self, message: str, *, target: str) -> None:
        super().__init__(message)
        self.target = target
