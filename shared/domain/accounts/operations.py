"""Polls on demand, from the request to the end, and queue messages."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

type Status = Literal["queued", "running", "succeeded", "failed"]
MAX_REASONS = 50


@dataclass(frozen=True, slots=True)
class Reason:
    """The cause why one job (None: the whole account) couldn't be polled."""

    job: str | None
    message: str


@dataclass(frozen=True, slots=True)
class PollOperation:
    """A poll on demand; `jobs` are the requested ids, None for all; `reasons` are the first fifty."""

    id: str
    status: Status
    created_at: datetime
    jobs: tuple[str, ...] | None
    finished_at: datetime | None = None
    succeeded: int = 0
    failed: int = 0
    reasons: tuple[Reason, ...] = ()
    etag: str | None = None

    @property
    def is_over(self) -> bool:
        return self.status in ("succeeded", "failed")

    def ended(self, *, succeeded: int, reasons: tuple[Reason, ...], now: datetime) -> "PollOperation":
        return replace(
            self,
            status="failed" if reasons else "succeeded",
            finished_at=now,
            succeeded=succeeded,
            failed=len(reasons),
            reasons=reasons[:MAX_REASONS],
        )


@dataclass(frozen=True, slots=True)
class JobMessage:
    """A queue message: a job to continue reading, or (no job) an account whose round is due.

    `until` is the end of its first mark, which identifies it however often it is sent or delivered. It is None for an
    account, and in messages of earlier versions.
    """

    account: str
    job: str | None
    until: datetime | None = None
