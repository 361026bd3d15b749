"""What rounds over jobs, pools and job schedules have in common: when they ran, and why they, or parts, failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ResourceRound[C]:
    """The last round over an account's resources of one kind, as stored in its row.

    `as_of` is the date of its list, None where that failed. `reason` is why it ended early, None if it didn't.
    `confirmations` and `failures` are by key: an unchanged resource needs no write of its own row.
    """

    failed_part: ClassVar[str] = "job{} couldn't be polled"
    """The resources that failed, in a sentence, with the place of a plural's ending."""

    started_at: datetime
    as_of: datetime | None = None
    reason: str | None = None
    batch_calls: int = 0
    confirmations: Mapping[str, C] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = field(default=None, kw_only=True)

    @property
    def problem(self) -> str | None:
        """A sentence on the round's failures, None without any."""
        if self.reason or not self.failures:
            return self.reason
        if len(self.failures) == 1:
            return f"1 {self.failed_part.format('')}; its verdict says why."
        return f"{len(self.failures)} {self.failed_part.format('s')}; their verdicts say why."

    def failure_of(self, key: str, as_of: datetime | None) -> str | None:
        """Returns why the resource `key`, last known `as_of` then, isn't up to date.

        That is its own failure, or that of a round which didn't reach it.
        """
        if key in self.failures:
            return self.failures[key]
        reached = self.as_of is not None and as_of is not None and as_of >= self.as_of
        return None if reached else self.reason
