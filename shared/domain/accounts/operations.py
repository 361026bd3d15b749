"""A poll on demand, from the request to its end."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

type Status = Literal["queued", "running", "succeeded", "failed"]
MAX_REASONS = 50


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one job (None: the whole account) couldn't be polled."""

    job: str | None
    message: str


@dataclass(frozen=True, slots=True)
class PollOperation:
    """`jobs` are the ids asked for, None for all; `reasons` are the first fifty."""

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
    """A job to be carried on with, or an account whose round is due (no job): what a message of the queue says.

    `until` is when the mark it was first sent with ends, which names it however often it is sent again or delivered;
    None for an account, and in messages of versions before this one.
    """

    account: str
    job: str | None
    until: datetime | None = None
