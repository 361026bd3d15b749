from datetime import UTC, datetime, timedelta

from shared.domain.accounts.monitoring import Monitoring, MonitoringChange

T0 = datetime(2026, 11, 21, 7, tzinfo=UTC)
LATER = T0 + timedelta(hours=1)
MINUTE = timedelta(minutes=1)
OFF, ON = MonitoringChange(enabled=False), MonitoringChange(enabled=True)
FAST = MonitoringChange(sets_rate=True, poll_seconds=10)


def test_an_account_that_nobody_changed_is_watched_at_the_rate_of_the_settings() -> None:
    assert Monitoring().enabled
    assert Monitoring().interval(MINUTE) == MINUTE
    assert Monitoring().off_reason is None


def test_a_change_keeps_settings_that_it_does_not_name() -> None:
    fast = Monitoring().changed(FAST, T0)
    off = fast.changed(OFF, LATER)
    assert (off.enabled, off.poll_seconds, off.changed_at, off.switched_at) == (False, 10, LATER, LATER)
    assert off.changed(ON, LATER).interval(MINUTE) == timedelta(seconds=10)


def test_a_rate_of_none_goes_back_to_the_settings() -> None:
    fast = Monitoring().changed(FAST, T0)
    assert fast.changed(MonitoringChange(sets_rate=True), LATER).interval(MINUTE) == MINUTE


def test_a_change_to_the_same_settings_changes_nothing() -> None:
    off = Monitoring().changed(OFF, T0)
    assert off.changed(OFF, LATER) is off


def test_the_reason_shows_the_time_of_switching_off_and_not_of_a_changed_rate() -> None:
    off = Monitoring().changed(OFF, T0).changed(FAST, LATER)
    assert off.changed_at == LATER
    assert off.off_reason == "Monitoring of this account is switched off since 2026-11-21 07:00:00 UTC."


def test_any_change_overwrites_a_row_that_cannot_be_read() -> None:
    unreadable = Monitoring(readable=False)
    assert unreadable.changed(ON, LATER) == Monitoring(changed_at=LATER)
    assert unreadable.changed(MonitoringChange(sets_rate=True), LATER).readable
