"""The spool: whole units, bounded, on disks that refuse, and the sessions of agents that ended."""

import errno
import gzip
import json
from pathlib import Path

import pytest

from agent.upload.disk import Disk
from agent.upload.file_lock import FileLock
from agent.upload.gzip_units import (
    MAX_RATIO,
    MAX_TASKS,
    MAX_VALUES,
    ended_attempts,
    gzip_member,
    last_number,
    units_of,
)
from agent.upload.session_folder import NEW, Series, SessionFolder
from agent.upload.spool import Limits, Spool, session_name
from tests.agent.upload.rig import SteppedClock

SERIES = Series("https://logs.example/telemetry", "nodes/n1")


class FullDisk(Disk):
    def fill(self, path: str, content: bytes) -> None:
        if path.endswith(".gz.part"):
            raise OSError(errno.ENOSPC, "No space left on device", path)
        super().fill(path, content)


class ReadOnlyDisk(Disk):
    def make_folder(self, path: str) -> None:
        raise OSError(errno.EROFS, "Read-only file system", path)


def spool(folder: Path, log: list[str], disk: Disk | None = None, limits: Limits | None = None) -> Spool:
    return Spool(str(folder), SERIES, SteppedClock(), log.append, limits=limits or Limits(), disk=disk)


def next_text(one: Spool) -> str:
    taken = one.take(one.sessions()[0])
    assert taken
    return gzip.decompress(taken[1]).decode()


def test_a_unit_is_a_gzip_member_with_its_name_and_without_a_time() -> None:
    (unit,) = units_of(b"a v=1i 1\nb v=2i 1\n", "session", 7)
    assert (unit.number, unit.records) == (7, 2)
    assert gzip.decompress(unit.content) == b"a v=1i 1\nb v=2i 1\n"
    assert unit.content[4:8] == b"\0\0\0\0"
    assert last_number(b"before" + unit.content, "session") == 7
    assert last_number(unit.content, "another") is None


def test_units_that_the_app_would_refuse_are_halved_at_line_breaks() -> None:
    text = b"m v=0i 1\nm v=1i 1\n" * 450_000
    units = list(units_of(text, "s", 0))
    contents = [gzip.decompress(unit.content) for unit in units]
    assert b"".join(contents) == text
    for unit, content in zip(units, contents, strict=True):
        assert len(content) <= max(65_536, MAX_RATIO * len(unit.content))
        assert len(content) <= 8 << 20


def test_a_unit_has_lines_of_few_tasks_and_those_of_the_node_come_first() -> None:
    tasks, ticks = 50, 3
    lines = [b"m v=%di %d\n" % (tick, tick) for tick in range(ticks)]
    of_tasks = [
        b"%s,job_id=j,task_attempt=1,task_id=t\\ %d v=%di %d\n" % (name, task, tick, tick)
        for tick in range(ticks)
        for task in range(tasks)
        for name in (b"batchscope_task", b"batchscope_task_attempt")
    ]
    text = b"".join(
        lines[tick] + b"".join(of_tasks[tick * 2 * tasks : (tick + 1) * 2 * tasks]) for tick in range(ticks)
    )
    units = [gzip.decompress(unit.content) for unit in units_of(text, "s", 0)]
    assert units[0] == b"".join(lines)
    assert sorted(b"".join(units).splitlines()) == sorted(text.splitlines())
    found = [{line.split(b"task_id=")[1].split(b" v=")[0] for line in unit.splitlines()} for unit in units[1:]]
    assert [len(one) for one in found] == [MAX_TASKS] * 4 + [2]
    assert sum(len(one) for one in found) == len(set.union(*found))
    assert sum(map(ended_attempts, (unit.content for unit in units_of(text, "s", 0)))) == ticks * tasks


def test_a_unit_has_few_values_but_a_line_stays_whole() -> None:
    fields = ",".join(f"f{number}=1" for number in range(1000))
    wide = ",".join(f"f{number}=1" for number in range(MAX_VALUES + 1))
    text = b"".join(b"m %s %d\n" % (fields.encode(), at) for at in range(100)) + b"m %s 1\n" % wide.encode()
    units = [gzip.decompress(unit.content) for unit in units_of(text, "s", 0)]
    assert b"".join(units) == text
    assert all(unit.count(b"=") <= MAX_VALUES for unit in units[:-1])
    assert len(units) <= 9


def test_lines_of_few_tasks_stay_in_their_order() -> None:
    text = b"".join(b"a,task_id=t%d v=1i 1\nm v=1i 1\n" % task for task in range(MAX_TASKS))
    (unit,) = units_of(text, "s", 0)
    assert gzip.decompress(unit.content) == text


def test_a_line_that_no_unit_can_hold_is_counted(tmp_path: Path) -> None:
    one = spool(tmp_path, [])
    one.put(b"a v=1i 1\n" + b"x" * (9 << 20) + b"\nb v=1i 1\n")
    assert [unit.records for unit in one.own.units] == [1, 1]
    assert one.own.dropped.fields() == {"dropped_units": 1, "dropped_bytes": 0, "dropped_records": 1}


def test_the_oldest_units_make_room_and_are_counted_in_the_next_record(tmp_path: Path) -> None:
    size = len(gzip_member(b"m v=0i 1\n", "20260101T000000000Z-1-abcd.0"))
    one = spool(tmp_path, [], limits=Limits(disk=3 * size + 60))
    for number in range(5):
        one.put(b"m v=%di 1\n" % number)
    assert next_text(one) == "m v=2i 1\n"
    fields = one.fields()
    assert (fields["dropped_units"], fields["dropped_records"], fields["spooled_units"]) == (2, 2, 3)
    assert not one.report_dropped(one.own)


def test_a_unit_that_is_being_sent_stays(tmp_path: Path) -> None:
    one = spool(tmp_path, [], limits=Limits(disk=1))
    one.put(b"m v=0i 1\n")
    assert next_text(one) == "m v=0i 1\n"
    one.put(b"m v=1i 1\n")
    one.put(b"m v=2i 1\n")
    assert [unit.number for unit in one.own.units] == [0, 2]


def test_the_unit_that_an_ended_agent_may_have_sent_stays(tmp_path: Path) -> None:
    ended = spool(tmp_path, [])
    for number in range(3):
        ended.put(f"m v={number}i 1\n".encode())
    assert ended.take(ended.own)
    ended.close()
    one = spool(tmp_path, [], limits=Limits(disk=1))
    one.adopt_left()
    one.put(b"m v=3i 1\n")
    session = session_of(one, ended.own.name)
    assert [unit.number for unit in session.units] == [0]
    assert session.dropped.records == 2


def test_a_unit_of_unknown_outcome_stays_while_another_session_is_sent(tmp_path: Path) -> None:
    ended = spool(tmp_path, [])
    ended.put(b"m v=1i 1\n")
    ended.close()
    one = spool(tmp_path, [], limits=Limits(disk=1))
    one.adopt_left()
    session = session_of(one, ended.own.name)
    assert one.take(session)
    one.put(b"m v=2i 1\n")
    assert one.take(one.own)
    one.put(b"m v=3i 1\n")
    assert [unit.number for unit in session.units] == [0]
    assert [unit.number for unit in one.own.units] == [0, 1]


def test_a_full_disk_leaves_units_in_memory_within_a_limit(tmp_path: Path) -> None:
    log: list[str] = []
    one = spool(tmp_path, log, FullDisk(), Limits(memory=150))
    for number in range(4):
        one.put(b"m v=%di 1\n" % number)
    assert next_text(one) == "m v=2i 1\n"
    assert one.fields()["dropped_units"] == 2
    assert one.fields()["memory_spooled_bytes"] <= 150
    assert len(log) == 1
    assert "No space left on device" in log[0]
    assert list(tmp_path.rglob("*.part")) == []


def test_a_read_only_disk_leaves_all_in_memory(tmp_path: Path) -> None:
    log: list[str] = []
    one = spool(tmp_path / "spool", log, ReadOnlyDisk())
    one.put(b"m v=0i 1\n")
    assert next_text(one) == "m v=0i 1\n"
    assert "Read-only file system" in log[0]


def test_another_users_folder_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    log: list[str] = []
    spool(tmp_path, log).put(b"m v=0i 1\n")
    assert "another user owns it" in log[0]
    assert list(tmp_path.iterdir()) == []


def test_sessions_of_ended_agents_are_adopted_and_those_of_living_ones_are_not(tmp_path: Path) -> None:
    ended, living, one = (spool(tmp_path, []) for _ in range(3))
    ended.put(b"m v=1i 1\n")
    living.put(b"m v=2i 1\n")
    ended.close()
    one.adopt_left()
    assert [session.name for session in one.sessions()] == [ended.own.name, one.own.name]
    assert next_text(one) == "m v=1i 1\n"


def test_folders_of_agents_that_were_killed_while_they_began_are_removed_after_an_hour(tmp_path: Path) -> None:
    one = spool(tmp_path, [])
    hour = 3600 * 10**9
    now = SteppedClock().now()
    names = [f"{NEW}{session_name(now - age)}" for age in (2 * hour, hour + 10**9, hour - 10**9, 0)]
    for name in (*names, ".other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    held = FileLock.take(str(tmp_path / names[1] / "lock"))
    assert held
    one.adopt_left()
    assert {path.name for path in tmp_path.iterdir()} == {*names[1:], ".other", one.own.name}
    held.release()
    one.adopt_left()
    assert {path.name for path in tmp_path.iterdir()} == {*names[2:], ".other", one.own.name}


def test_units_for_another_container_are_not_sent_with_this_ones_credential(tmp_path: Path) -> None:
    log: list[str] = []
    elsewhere = Spool(str(tmp_path), Series("https://evil.example/c", "p"), SteppedClock(), log.append)
    elsewhere.put(b"m v=1i 1\n")
    elsewhere.close()
    one = spool(tmp_path, log)
    one.adopt_left()
    assert one.sessions() == [one.own]
    assert log == ["The spool holds units for another container; they stay for an agent that is given it."]


@pytest.mark.parametrize("damaged", ["{", "[]", '{"container": 1}', "[" * 100_000])
def test_a_session_whose_files_are_damaged_is_sent_to_this_agents_series(tmp_path: Path, damaged: str) -> None:
    ended = spool(tmp_path, [])
    ended.put(b"m v=1i 1\n")
    ended.close()
    for name in ("session.json", "position.json", "dropped.json"):
        (tmp_path / ended.own.name / name).write_text(damaged)
    one = spool(tmp_path, [])
    one.adopt_left()
    assert one.sessions()[0].series == SERIES
    assert next_text(one) == "m v=1i 1\n"


def test_units_that_were_counted_before_a_crash_are_not_sent(tmp_path: Path) -> None:
    ended = spool(tmp_path, [])
    ended.put(b"m v=1i 1\n")
    ended.put(b"m v=2i 1\n")
    ended.close()
    kept = {"dropped_units": 1, "dropped_bytes": 9, "dropped_records": 1, "removing": [0]}
    (tmp_path / ended.own.name / "dropped.json").write_text(json.dumps(kept))
    one = spool(tmp_path, [])
    one.adopt_left()
    assert next_text(one) == "m v=2i 1\n"
    assert one.report_dropped(one.sessions()[0])
    assert not one.report_dropped(one.sessions()[0])


def test_the_number_of_a_dropped_unit_is_not_given_again(tmp_path: Path) -> None:
    ended = spool(tmp_path, [])
    for number in range(3):
        ended.put(b"m v=%di 1\n" % number)
    ended.own.drop(ended.own.units)
    ended.close()
    one = spool(tmp_path, [])
    one.adopt_left()
    assert one.report_dropped(one.sessions()[0])
    assert [unit.number for unit in one.sessions()[0].units] == [3]


def session_of(owner: Spool, name: str) -> SessionFolder:
    return next(session for session in owner.sessions() if session.name == name)


def test_numbers_are_not_given_again_where_the_oldest_unit_is_dropped_last(tmp_path: Path) -> None:
    ended = spool(tmp_path, [])
    for value in range(4):
        ended.put(b"m v=%di 1\n" % value)
    assert ended.take(ended.own)  # unit 0 is being sent, so the others make room
    ended.own.drop(ended.own.units[1:])
    ended.close()
    between = spool(tmp_path, [])
    between.adopt_left()
    adopted = session_of(between, ended.own.name)
    adopted.drop(adopted.units)
    between.close()
    one = spool(tmp_path, [])
    one.adopt_left()
    session = session_of(one, ended.own.name)
    assert one.report_dropped(session, sent=0)
    assert [unit.number for unit in session.units] == [4]


def test_a_unit_that_cannot_be_read_is_counted_as_dropped(tmp_path: Path) -> None:
    one = spool(tmp_path, [])
    one.put(b"m v=1i 1\n")
    one.put(b"m v=2i 1\n")
    next(tmp_path.rglob("0000000000.1.gz")).write_bytes(b"")
    assert next_text(one) == "m v=2i 1\n"
    assert one.own.dropped.records == 1
