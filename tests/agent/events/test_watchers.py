"""Events from clocks, disks, the boot id, GPUs' counts, start tasks, and Azure's announcements."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.collectors.collector import UnsupportedError
from agent.events.clock_jumps import ClockJumps
from agent.events.ecc_growth import EccGrowth
from agent.events.fill_rule import FillRule
from agent.events.full_disks import FullDisks
from agent.events.reboots import Reboots
from agent.events.scheduled_events import ScheduledEvents
from agent.events.start_task_hangs import StartTaskHangs, StartTaskProcess
from agent.events.state import MAX_MOMENTS, EventState, load_moments, load_state, save_state
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record

SECOND = 1_000_000_000
NOW = 1_795_000_000 * SECOND
GIB = 1 << 30


class SteppedClock(Clock):
    def __init__(self) -> None:
        self.wall, self.passed, self.unadjusted = NOW, 50.0, 50.0

    def now(self) -> int:
        return self.wall

    def monotonic(self) -> float:
        return self.passed

    def raw(self) -> float:
        return self.unadjusted

    def advance(self, seconds: float, *, slew: float = 0.0) -> None:
        self.unadjusted += seconds
        self.passed += seconds * (1 + slew)
        self.wall += int(seconds * (1 + slew) * SECOND)


def test_a_disk_that_fills_is_reported_once_until_it_recovers() -> None:
    rule = FillRule()
    found = [rule.judge(30.0 * step, 100 * GIB - step * 2 * GIB, 200 * GIB) for step in range(20)]
    (finding,) = filter(None, found)
    assert found.index(finding) == 5
    assert finding.rate == 2 * GIB / 30
    assert finding.seconds == 90 * GIB / finding.rate
    calm = [rule.judge(600.0 + 30 * step, 150 * GIB, 200 * GIB) for step in range(20)]
    again = [rule.judge(1200.0 + 30 * step, 150 * GIB - step * 4 * GIB, 200 * GIB) for step in range(20)]
    assert (len(list(filter(None, calm))), len(list(filter(None, again)))) == (0, 1)


def test_a_nearly_full_disk_has_no_time_left() -> None:
    rule = FillRule()
    assert rule.judge(0.0, GIB, 100 * GIB) is None
    finding = rule.judge(30.0, GIB, 100 * GIB)
    assert finding is not None
    assert (finding.seconds, finding.free) == (None, GIB)


@given(some.lists(some.integers(0, 3), min_size=1, max_size=200))
def test_space_around_the_threshold_does_not_flap(steps: list[int]) -> None:
    rule = FillRule()
    found = [rule.judge(30.0 * number, (18 + step) * GIB // 10, 100 * GIB) for number, step in enumerate(steps)]
    assert len(list(filter(None, found))) <= 1


def fake_statvfs(free: dict[str, int]) -> "type[os.statvfs_result]":
    def statvfs(path: str) -> os.statvfs_result:
        name = "/" + path.rpartition("/")[2]
        if name not in free:
            raise OSError(5, "Input/output error")
        return os.statvfs_result((4096, 4096, 100 * GIB // 4096, 0, free[name] // 4096, 0, 0, 0, 0, 255))

    return statvfs  # type: ignore[return-value]


def test_only_local_writable_file_systems_are_asked(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(
        "1 0 8:1 / /a rw - ext4 /dev/sda1 rw\n2 0 8:1 / /b rw - ext4 /dev/sda1 rw\n3 0 8:2 / /c ro - xfs /dev/sdb ro\n"
        "4 0 0:9 / /d rw - nfs x:/y rw\n5 4 8:3 / /d/e rw - ext4 /dev/sdc rw\n6 0 8:4 / /gone rw - ext4 /dev/sdd rw\n"
        "garbage\n"
    )
    clock, free = SteppedClock(), {"/a": GIB, "/b": 0, "/c": 0, "/d": 0, "/e": 0}
    disks = FullDisks(Machine(str(tmp_path), statvfs=fake_statvfs(free)), clock)
    assert list(disks.collect(NOW)) == []
    clock.advance(30.0)
    (found,) = disks.collect(NOW)
    assert found.tags == {"kind": "disk_full"}
    assert found.fields["message"] == "The file system /a is nearly full: 1024 MiB are left."


def test_minutes_left_are_shown(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text("1 0 8:1 / /a rw - ext4 /dev/sda1 rw\n")
    clock, free = SteppedClock(), {"/a": 50 * GIB}
    disks = FullDisks(Machine(str(tmp_path), statvfs=fake_statvfs(free)), clock)
    messages = []
    for _ in range(10):
        messages += [record.fields["message"] for record in disks.collect(NOW)]
        clock.advance(30.0)
        free["/a"] -= GIB
    assert messages == ["The file system /a will be full in 22 min at the present rate."]


def test_without_local_file_systems_full_disks_are_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no local file system"):
        FullDisks(Machine(str(tmp_path)), SteppedClock())


def booted(root: Path, boot_id: str) -> Machine:
    (root / "proc/sys/kernel/random").mkdir(parents=True, exist_ok=True)
    (root / "proc/sys/kernel/random/boot_id").write_text(boot_id)
    return Machine(str(root))


def test_a_reboot_is_reported_once_and_the_state_is_saved(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    last = EventState("boot-0", 7, NOW - 90 * SECOND)
    reboots = Reboots(booted(tmp_path, "boot-1"), path, last, lambda: (12, NOW - SECOND))
    (found,) = reboots.collect(NOW)
    assert found.tags == {"kind": "reboot"}
    assert found.fields == {
        "message": "The node was restarted since the agent last ran, 90 s ago.", "down_seconds": 90.0,
    }  # fmt: skip
    assert load_state(path)[:4] == ("boot-1", 12, NOW, NOW - SECOND)
    reboots.spooled()
    assert list(reboots.collect(NOW + SECOND)) == []
    assert load_state(path) == EventState("boot-1", 12, NOW + SECOND, NOW - SECOND)


def test_a_session_repeats_the_records_of_reboots_that_those_before_it_did_not_spool(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    save_state(path, EventState("boot-0", 7, NOW - 90 * SECOND))

    def session(boot_id: str, now: int) -> tuple[Reboots, list[Record]]:
        reboots = Reboots(booted(tmp_path, boot_id), path, load_state(path), lambda: (12, 0))
        return reboots, list(reboots.collect(now))

    _killed, (first,) = session("boot-1", NOW)
    assert first.time == NOW
    assert session("boot-1", NOW + SECOND)[1] == [first]
    reboots, found = session("boot-2", NOW + 61 * SECOND)
    assert (found[0], found[1].time, found[1].fields["down_seconds"]) == (first, NOW + 61 * SECOND, 60.0)
    reboots.spooled()
    assert list(reboots.collect(NOW + 62 * SECOND)) == []
    assert session("boot-2", NOW + 63 * SECOND)[1] == []


def test_the_state_of_a_node_that_restarts_for_ever_can_be_read(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    for boot in range(100):
        machine, now = booted(tmp_path, f"{boot:036}"), NOW + boot * SECOND
        list(Reboots(machine, path, load_state(path), lambda: (-1, NOW)).collect(now))
    assert [reboot.noticed for reboot in load_state(path).reboots][-1] == now


@pytest.mark.parametrize("last", [EventState(), EventState("boot-1", 7, NOW)])
def test_a_new_node_and_a_restarted_agent_are_no_reboot(tmp_path: Path, last: EventState) -> None:
    assert list(Reboots(booted(tmp_path, "boot-1"), str(tmp_path / "state"), last, lambda: (1, 0)).collect(NOW)) == []


def test_without_a_boot_id_reboots_are_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no boot id"):
        Reboots(Machine(str(tmp_path)), "x", EventState(), lambda: (1, 0))


@pytest.mark.parametrize("garbled", ["", "[]", "{}", '{"boot_id":1,"sequence":"x","saved":0}', "[" * 4096, "\xff"])
def test_a_garbled_state_is_empty(tmp_path: Path, garbled: str) -> None:
    (tmp_path / "state").write_text(garbled, encoding="latin-1")
    assert load_state(str(tmp_path / "state")) == EventState()


def test_a_state_is_for_its_owner_only(tmp_path: Path) -> None:
    save_state(str(tmp_path / "state"), EventState("b", 1, 2))
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600
    assert load_state(str(tmp_path / "gone")) == EventState()


def test_a_state_is_on_the_disk_before_it_replaces_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = str(tmp_path / "state"), list[EventState]()
    save_state(path, EventState("b", 1, 2))

    def sync(descriptor: int) -> None:
        assert os.fstat(descriptor).st_size > 0
        synced.append(load_state(path))

    monkeypatch.setattr(os, "fsync", sync)
    save_state(path, EventState("b", 2, 3))
    assert synced == [EventState("b", 1, 2)]


@pytest.mark.parametrize(("seconds", "message"), [
    (3600, "The node's clock was set forwards by 3600.0 s."), (-5, "The node's clock was set back by 5.0 s."),
])  # fmt: skip
def test_a_clock_that_is_set_is_reported_once(seconds: int, message: str) -> None:
    clock = SteppedClock()
    jumps = ClockJumps(clock)
    clock.advance(10.0)
    assert list(jumps.collect(clock.now())) == []
    clock.wall += seconds * SECOND
    (found,) = jumps.collect(clock.now())
    assert (found.tags, found.fields["message"]) == ({"kind": "clock_jump"}, message)
    assert list(jumps.collect(clock.now())) == []


def test_small_steps_add_up() -> None:
    clock = SteppedClock()
    jumps, found = ClockJumps(clock), []
    for _ in range(5):
        clock.wall += SECOND // 2
        found += list(jumps.collect(clock.now()))
    assert len(found) == 1


def test_a_slew_is_reported_when_it_begins() -> None:
    clock = SteppedClock()
    jumps, messages = ClockJumps(clock), []
    for slew in (0.0, 0.005, 0.005, 0.0007, 0.0, -0.002):
        for _ in range(5):
            clock.advance(10.0, slew=slew)
            messages += [record.fields["message"] for record in jumps.collect(clock.now())]
    assert messages == ["The node's clock runs 0.50 % too fast.", "The node's clock runs 0.20 % too slow."]


def test_growing_ecc_counts_are_events_and_a_reset_is_none() -> None:
    counts: dict[str, dict[str, int]] = {"0": {"corrected": 500, "uncorrected": 1}}
    growth = EccGrowth(lambda: {name: dict(kinds) for name, kinds in counts.items()})
    assert list(growth.collect(NOW)) == []
    counts["0"] = {"corrected": 550, "uncorrected": 2}
    (found,) = growth.collect(NOW)
    assert found.tags == {"kind": "gpu_ecc"}
    assert found.fields == {
        "message": "GPU 0 counts 1 more uncorrected memory error, 2 since its driver started.",
        "device": "0", "error_type": "uncorrected", "count": 1, "total": 2,
    }  # fmt: skip
    counts["0"] = {"corrected": 700, "uncorrected": 0}
    assert [record.fields["count"] for record in growth.collect(NOW)] == [150]


def test_a_start_task_beyond_its_bound_is_reported_once() -> None:
    found = [StartTaskProcess(7, NOW), StartTaskProcess(9, NOW + SECOND)]
    hangs = StartTaskHangs(lambda: found, max_seconds=60.0)
    assert list(hangs.collect(NOW + 60 * SECOND)) == []
    (event,) = hangs.collect(NOW + 90 * SECOND)
    assert (event.tags, event.fields["pid"], event.fields["seconds"]) == ({"kind": "start_task_hang"}, 7, 90.0)
    assert list(hangs.collect(NOW + 300 * SECOND)) == []


def test_a_start_that_is_known_to_a_second_only_is_reported_once() -> None:
    found = [StartTaskProcess(7, NOW)]
    hangs = StartTaskHangs(lambda: found, max_seconds=60.0)
    assert len(list(hangs.collect(NOW + 90 * SECOND))) == 1
    found[:] = [StartTaskProcess(7, NOW + SECOND)]
    assert list(hangs.collect(NOW + 300 * SECOND)) == []


NOTICE: Mapping[str, object] = {
    "EventId": "e1", "EventType": "Preempt", "EventStatus": "Scheduled", "Resources": ["pool_3"],
    "NotBefore": "Mon, 19 Sep 2026 18:29:47 GMT", "EventSource": "Platform", "DurationInSeconds": -1,
    "Description": "?sig=abc",
}  # fmt: skip


def test_a_spot_notice_is_reported_once() -> None:
    document = {"Events": [NOTICE, {**NOTICE, "EventId": "e2", "Resources": ["pool_4"]}, "garbage"]}
    watched = ScheduledEvents(lambda: document, SteppedClock(), is_spot=True, resource="pool_3")
    (found,) = watched.collect(NOW)
    assert found.tags == {"kind": "spot_preemption"}
    assert found.fields == {
        "message": "Azure takes this Spot node back, not before Mon, 19 Sep 2026 18:29:47 GMT.",
        "event_id": "e1", "event_type": "Preempt", "status": "Scheduled", "source": "Platform",
        "not_before": "Mon, 19 Sep 2026 18:29:47 GMT",
    }  # fmt: skip
    assert list(watched.collect(NOW)) == []


def test_an_agent_that_starts_meanwhile_repeats_the_record_of_a_notice(tmp_path: Path) -> None:
    path, document = str(tmp_path / "announced"), {"Events": [NOTICE]}
    (first,) = ScheduledEvents(lambda: document, SteppedClock(), is_spot=True, path=path).collect(NOW)
    document["Events"] = [NOTICE, {**NOTICE, "EventId": "e2"}]
    again, other = ScheduledEvents(lambda: document, SteppedClock(), is_spot=True, path=path).collect(NOW + SECOND)
    assert (first.time, again, other.time) == (NOW, first, NOW + SECOND)
    document["Events"] = [{**NOTICE, "EventId": f"{number:064}"} for number in range(40)]
    assert len(list(ScheduledEvents(lambda: document, SteppedClock(), is_spot=True, path=path).collect(NOW))) == 40
    assert len(load_moments(path)) == MAX_MOMENTS


@pytest.mark.parametrize("content", [b"", b"[]", b'{"e1": "x"}', b"\xff", b'{"e1": null}'])
def test_a_garbled_file_of_notices_loses_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "announced"
    path.write_bytes(content)
    watched = ScheduledEvents(lambda: {"Events": [NOTICE]}, SteppedClock(), is_spot=True, path=str(path))
    assert [one.time for one in watched.collect(NOW)] == [NOW]
    nowhere = str(tmp_path / "gone" / "announced")
    assert (
        len(
            list(ScheduledEvents(lambda: {"Events": [NOTICE]}, SteppedClock(), is_spot=True, path=nowhere).collect(NOW))
        )
        == 1
    )


def test_maintenance_of_an_unknown_kind_is_shown_without_foreign_text() -> None:
    document = {"Events": [{"EventId": "e", "EventType": "<x>", "DurationInSeconds": 9}, {"EventType": "Freeze"}]}
    (found,) = ScheduledEvents(lambda: document, SteppedClock(), is_spot=True).collect(NOW)
    assert found.tags == {"kind": "maintenance"}
    assert found.fields == {
        "message": "Azure announces maintenance of this node.", "event_id": "e", "duration_seconds": 9,
    }  # fmt: skip


def test_a_service_that_fails_is_asked_less_often() -> None:
    clock, asked = SteppedClock(), []

    def document() -> Mapping[str, object]:
        asked.append(clock.passed - 50)
        raise OSError

    watched = ScheduledEvents(document, clock, is_spot=True)
    for _ in range(100):
        assert list(watched.collect(NOW)) == []
        clock.advance(10.0)
    assert asked == [0, 20, 60, 140, 300, 600, 900]


def test_a_garbled_document_has_no_events() -> None:
    garbled: tuple[object, ...] = ({}, "x", None)
    for events in garbled:
        assert list(ScheduledEvents(lambda: {"Events": events}, SteppedClock(), is_spot=True).collect(NOW)) == []  # noqa: B023


def test_nodes_that_are_no_spot_nodes_are_not_asked() -> None:
    with pytest.raises(UnsupportedError, match="no Spot node"):
        ScheduledEvents(dict, SteppedClock(), is_spot=False)
