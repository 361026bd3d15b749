"""How the last reading of the retail list went."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class PriceSourceStatus:
    """The last reading that had no failure, and since when readings fail, with the reason of the last one."""

    as_of: datetime | None = None
    failed_since: datetime | None = None
    reason: str = ""
    etag: str | None = None

    def after(self, reason: str, now: datetime) -> "PriceSourceStatus":
        """Returns the status after a reading, which failed if there is a reason."""
        if reason:
            return replace(self, failed_since=self.failed_since or now, reason=reason)
        return replace(self, as_of=now, failed_since=None, reason="")

    @property
    def problem(self) -> str:
        """A sentence on readings that fail; empty where the last one didn't."""
        if not self.failed_since:
            return ""
        since = f"{self.failed_since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return f"Retail prices couldn't be read since {since}, so known prices go on: {self.reason}"
