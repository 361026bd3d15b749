"""The agent's folder, log and copy of its program; what degrades when they can't be written."""

import os
from pathlib import Path

import pytest

from agent.supervision.folders import own_folder
from agent.supervision.log_file import MAX_SIZE, LogFile
from agent.supervision.program import own_copy
from tests.agent.supervision.fakes import SteppedClock


def test_a_missing_folder_is_created_for_this_user_only(tmp_path: Path) -> None:
    assert own_folder(f"{tmp_path}/agent") == f"{tmp_path}/agent"
    assert (tmp_path / "agent").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_left_for_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent").chmod(0o777)
    assert own_folder(f"{tmp_path}/agent") == f"{tmp_path}/agent-{os.geteuid()}"


@pytest.mark.parametrize(("mode", "is_used"), [(0o777, False), (0o770, False), (0o1777, True), (0o755, True)])
def test_a_folder_that_others_can_rename_is_not_used(tmp_path: Path, mode: int, *, is_used: bool) -> None:
    shared = tmp_path / "shared"
    (shared / "tasks").mkdir(parents=True)
    shared.chmod(mode)
    path = f"{shared}/tasks/{tmp_path.name}"
    found = own_folder(path)
    try:
        assert (found == path) is is_used
        assert Path(found).stat().st_mode & 0o777 == 0o700
    finally:
        Path(found).rmdir()


def test_a_folder_where_nothing_can_be_made_is_left_for_another(tmp_path: Path) -> None:
    found = own_folder(f"/proc/nowhere/{tmp_path.name}")
    assert Path(found).name == f"{tmp_path.name}-{os.geteuid()}"
    Path(found).rmdir()


def test_links_and_files_are_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.supervision.folders._OTHERS", ())
    (tmp_path / "agent").symlink_to(tmp_path)
    (tmp_path / f"agent-{os.geteuid()}").write_text("")
    with pytest.raises(PermissionError, match="no folder that only this user can write"):
        own_folder(f"{tmp_path}/agent")


def test_a_log_line_has_the_time_and_the_process(tmp_path: Path) -> None:
    log = LogFile(f"{tmp_path}/new/agent.log", SteppedClock())
    log.write("Two\nlines.")
    assert (tmp_path / "new/agent.log").read_text() == f"2026-11-18T11:06:40Z {os.getpid()} Two lines.\n"
    log.close()


def test_a_long_log_begins_anew_and_its_last_part_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    log, other = LogFile(str(path), SteppedClock()), LogFile(str(path), SteppedClock())
    with path.open("ab") as file:
        file.write(b"x" * MAX_SIZE)
    log.write("The last.")
    other.write("The first.")
    assert path.read_text().endswith("The first.\n")
    assert path.stat().st_size < 100
    before = (tmp_path / "agent.log.1").read_bytes()
    assert before.endswith(b"The last.\n")
    assert len(before) == MAX_SIZE
    log.close()
    other.close()


def test_a_log_that_can_not_be_written_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "agent.log").symlink_to(tmp_path / "elsewhere")
    log = LogFile(f"{tmp_path}/agent.log", SteppedClock())
    log.write("Nothing.")
    assert not (tmp_path / "elsewhere").exists()
    log.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_messages_only(tmp_path: Path) -> None:
    log = LogFile(f"{tmp_path}/agent.log", SteppedClock())
    os.dup2(os.open("/dev/full", os.O_WRONLY), log._file)
    log.write("Nothing.")
    assert log.dropped == 1
    log.close()


def test_the_program_is_copied_once_for_each_content(tmp_path: Path) -> None:
    program, folder = tmp_path / "agent.pyz", own_folder(f"{tmp_path}/own")
    program.write_bytes(b"one")
    first = own_copy(str(program), folder, "0.2.0")
    changed = Path(first).stat().st_mtime_ns
    assert own_copy(str(program), folder, "0.2.0") == first
    assert Path(first).stat().st_mtime_ns == changed
    program.write_bytes(b"two")
    assert own_copy(str(program), folder, "0.2.0") != first
    assert Path(first).read_bytes() == b"one"


def test_where_it_can_not_be_copied_the_program_itself_is_used(tmp_path: Path) -> None:
    program, open_folder = tmp_path / "agent.pyz", tmp_path / "open"
    program.write_bytes(b"one")
    open_folder.mkdir()
    open_folder.chmod(0o777)
    assert own_copy(str(program), str(open_folder), "0.2.0") == str(program)
    assert own_copy(str(program), f"{tmp_path}/missing", "0.2.0") == str(program)
