"""Monitoring settings that an operator may change at run time: whether an account is watched, and how often."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

LOWEST_RATE, HIGHEST_RATE = 1, 86_400  # seconds between two polls of an account


@dataclass(frozen=True, slots=True)
class MonitoringChange:
    """A requested change of an account's monitoring; `enabled` None leaves that unchanged.

    `poll_seconds` counts only where `sets_rate`, because None is a rate, too: that of the settings.
    """

    enabled: bool | None = None
    sets_rate: bool = False
    poll_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Monitoring:
    """One account's monitoring; an account without a row is watched at the rate of the settings.

    `poll_seconds` None means that rate. `changed_at` is the last change of either, `switched_at` that of `enabled`,
    None without one. Not `readable`: the row is of another version, and any change overwrites it.
    """

    enabled: bool = True
    poll_seconds: int | None = None
    changed_at: datetime | None = None
    switched_at: datetime | None = None
    etag: str | None = None
    readable: bool = True

    def interval(self, default: timedelta) -> timedelta:
        """Returns the time between two polls; `default` is that of the settings."""
        return default if self.poll_seconds is None else timedelta(seconds=self.poll_seconds)

    def changed(self, change: MonitoringChange, now: datetime) -> "Monitoring":
        """Returns the monitoring after a change; unspecified values stay, and times move only where a value changes."""
        enabled = self.enabled if change.enabled is None else change.enabled
        rate = change.poll_seconds if change.sets_rate else self.poll_seconds
        if self.readable and (enabled, rate) == (self.enabled, self.poll_seconds):
            return self
        switched_at = now if enabled != self.enabled else self.switched_at
        return replace(self, enabled=enabled, poll_seconds=rate, changed_at=now, switched_at=switched_at, readable=True)

    @property
    def off_reason(self) -> str | None:
        """A sentence on why nothing is polled, None while the account is watched."""
        if self.enabled:
            return None
        since = f" since {self.switched_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if self.switched_at else ""
        return f"Monitoring of this account is switched off{since}."
