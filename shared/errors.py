"""The expected errors, each with a message that states the problem, where it is and how to solve it.

Services and stores raise these. `functions/http/handling.py` turns them into HTTP statuses, and polls into reasons.
"""

from datetime import timedelta

_WORDS = {429: "is throttling (429)", 503: "is too busy to answer (503)"}


class BatchscopeError(Exception):
    """The base class of all expected errors."""


class SettingsError(BatchscopeError):
    """The settings don't allow the app to work; `problems` has a sentence for each problem."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class NotFoundError(BatchscopeError):
    """A client named something that doesn't exist."""

    def __init__(self, kind: str, name: str, where: str = "") -> None:
        super().__init__(f"There is no {kind} '{name}'{where}.")
        self.kind = kind


class AmbiguousNameError(NotFoundError):
    """A client gave an account name that several accounts share."""

    def __init__(self, name: str, ids: tuple[str, ...]) -> None:
        super().__init__("account", name, f" alone: the name is shared by {' and '.join(ids)}, so say which one")


class FileMissingError(NotFoundError):
    """Batch has no such file, or no longer."""

    def __init__(self, sentence: str) -> None:
        """`sentence` names the file, and why it isn't there."""
        super().__init__("file", "")
        self.args = (sentence,)


class MonitoringOffError(BatchscopeError):
    """A poll was requested for an account whose monitoring is switched off."""

    def __init__(self, account_id: str, reason: str) -> None:
        """`reason` is a sentence that states since when."""
        super().__init__(f'{reason} Switch it on first: PUT /api/accounts/{account_id}/monitoring {{"enabled": true}}.')


class BatchError(BatchscopeError):
    """A request to the Batch service failed."""


class BatchUnreachableError(BatchError):
    def __init__(self, endpoint: str, cause: str) -> None:
        super().__init__(f"{endpoint} can't be reached: {cause}")


class BatchThrottledError(BatchError):
    """429 or 503; `retry_after` is the back-off for the whole account."""

    def __init__(
        self, endpoint: str, retry_after: timedelta, *, status: int | None = None, cap: int | None = None
    ) -> None:
        """`status` is that of this response; `cap` is the app's own limit of calls a minute where that was reached."""
        if cap:
            why = f"was called {cap} times in a minute, all that MAX_BATCH_CALLS_PER_MINUTE allows"
        else:
            why = _WORDS.get(status or 0, "is left alone for now")
        super().__init__(f"{endpoint} {why}; the next try is in {retry_after.total_seconds():.0f} s.")
        self.retry_after = retry_after


class RateLimitedError(BatchError):
    """A long read would wait for its rate limit beyond its time; its next message continues it."""


class BatchRefusedError(BatchError):
    """401 or 403: the credential is wrong or lacks a role."""


class BatchMissingError(BatchError):
    """404 with the service's own `code` for it, like JobNotFound: the resource doesn't exist, or no longer."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class BatchAnswerError(BatchError):
    """An invalid response: an unexpected status, a body cut short, a link that leaves the account."""


class RepeatedLinkError(BatchAnswerError):
    """A list's next link leads back to a page that was read before."""

    def __init__(self, endpoint: str, intent: str) -> None:
        super().__init__(
            f"{endpoint} sent a next link twice to the request to {intent}, so the list never ends and wasn't used;"
            " if that lasts, see what answers in the service's place."
        )


class CacheConflictError(BatchscopeError):
    """Another poll of the same job wrote meanwhile; this one gives way and the next one converges."""


class OvertakenError(CacheConflictError):
    """Other processes were faster at each try of a job's poll, so the poll is left to them."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Another process is reading '{job_id}' meanwhile.")


class LongReadError(BatchscopeError):
    """A job has too many tasks to be read within a round."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"The tasks of '{job_id}' take longer to read than a round may; that goes on by itself.")


class UnreadableTasksError(LongReadError):
    """The same for a job whose stored tasks can't be read, and must be replaced together."""


class PriceSourceError(BatchscopeError):
    """The list of retail prices gave no answer, also after the last try."""


class PriceAnswerError(PriceSourceError):
    """The list of retail prices gave an answer that can't be used; other sizes may have a better one."""


class QuotaError(BatchscopeError):
    """The quotas of an account can't be read; the message is a sentence."""


class StorageError(BatchscopeError):
    """A request to Table Storage failed."""


class StorageUnavailableError(StorageError):
    """Table Storage gave no response, or reported that it is busy; a later retry may help."""

    retry_after = timedelta(seconds=5)

    def __init__(self, intent: str, cause: str) -> None:
        super().__init__(
            f"Table Storage didn't {intent}: {cause.rstrip('.')}. The next try may help; if this lasts, see the storage"
            " account's state and the network rules between it and the app."
        )


class UnreadableError(StorageError):
    """Stored data can't be read by this version: it is damaged, or a newer version wrote it."""


class BlobError(BatchscopeError):
    """A request to Blob Storage failed."""


class BlobChangedError(BlobError):
    """A blob has changed since it was listed; reading its properties again shows its present state."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} was written meanwhile.")


class HistoryRangeError(BatchscopeError):
    """The range or the step of a history is invalid; `target` names the parameter."""

    def __init__(self, message: str, *, target: str) -> None:
        super().__init__(message)
        self.target = target


class WhatIfError(BatchscopeError):
    """A job can't be replayed under the settings asked for; `target` names the parameter."""

    def __init__(self, message: str, *, target: str) -> None:
        super().__init__(message)
        self.target = target


class TooManyBudgetsError(BatchscopeError):
    """An account has as many budgets as it may have."""

    def __init__(self, account_id: str, most: int) -> None:
        super().__init__(f"'{account_id}' has {most} budgets, the most that an account may have; delete one first.")
