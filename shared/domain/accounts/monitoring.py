"""Whether an account is watched and how often: what an operator may change while the app runs."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

LOWEST_RATE, HIGHEST_RATE = 1, 86_400  # seconds between two polls of an account


@dataclass(frozen=True, slots=True)
class MonitoringChange:
    """What is to become of an account's monitoring; `enabled` None leaves that as it is.

    `poll_seconds` counts only where `sets_rate`, as None is a rate, too: that of the settings.
    """

    enabled: bool | None = None
    sets_rate: bool = False
    poll_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Monitoring:
    """One account's monitoring; an account of which nothing is stored is watched at the rate of the settings.

    `poll_seconds` None means that rate. `changed_at` is the last change of either, `switched_at` that of `enabled`;
    None where there was none. Not `readable`: a row of another version stands there, which any change overwrites.
    """

    enabled: bool = True
    poll_seconds: int | None = None
    changed_at: datetime | None = None
    switched_at: datetime | None = None
    etag: str | None = None
    readable: bool = True

    def interval(self, default: timedelta) -> timedelta:
        """The time between two polls; `default` is that of the settings."""
        return default if self.poll_seconds is None else timedelta(seconds=self.poll_seconds)

    def changed(self, change: MonitoringChange, now: datetime) -> "Monitoring":
        """After a change; what it doesn't speak of stays, and so do the times of what was so already."""
        enabled = self.enabled if change.enabled is None else change.enabled
        rate = change.poll_seconds if change.sets_rate else self.poll_seconds
        if self.readable and (enabled, rate) == (self.enabled, self.poll_seconds):
            return self
        switched_at = now if enabled != self.enabled else self.switched_at
        return replace(self, enabled=enabled, poll_seconds=rate, changed_at=now, switched_at=switched_at, readable=True)

    @property
    def off_reason(self) -> str | None:
        """Why nothing is polled, as a sentence; None while the account is watched."""
        if self.enabled:
            return None
        since = f" since {self.switched_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if self.switched_at else ""
        return f"Monitoring of this account is switched off{since}."
