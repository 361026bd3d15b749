"""The directory of stored accounts: torn ends, leftovers, other emulators and foreign files."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from local.batch_emulator.persistence.rows import FORMAT
from local.batch_emulator.persistence.store import Store, StoreError
from tests.emulator.keeping.keeping import Kept, everything, rows_of
from tests.emulator.keeping.keeping import busy as _busy


def test_a_deleted_job_with_many_tasks_is_cleared_away_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.batch_emulator.persistence.store._MAX_SWEPT", 3)
    kept = Kept(tmp_path)
    _busy(kept)
    kept.flush()
    kept.call("DELETE", "/jobs/job")
    kept.advance(60)
    kept.flush()
    assert len([row for row in kept.stored() if row[2] == "task"]) == 5
    kept.restart()
    while not kept.store.is_swept:
        kept.flush()
    assert {row[2] for row in kept.stored()} & {"task", "job"} == set()


def test_a_torn_end_is_dropped_and_all_before_it_is_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "first")
    moments = [kept.stored()]
    _busy(kept)
    for number in range(12):
        assert kept.call("POST", "/jobs/job/tasks", {"id": f"n{number}", "commandLine": "sleep 15"})[0] == 201
        kept.advance(20)
        kept.flush()
        moments.append(kept.stored())
    copy = tmp_path / "copy"
    log = (tmp_path / "first" / "emulator.sqlite3-wal").read_bytes()
    seen = set()
    for end in range(len(log), 20_000, -1777):
        copy.mkdir()
        shutil.copy(tmp_path / "first" / "emulator.sqlite3", copy)
        (copy / "emulator.sqlite3-wal").write_bytes(log[:end])
        store = Store(copy)
        seen.add(moments.index(rows_of(store)))
        store.close()
        later = Kept(copy)
        later.flush()
        assert later.stored() == everything(later.emulator)
        later.store.close()
        shutil.rmtree(copy)
    assert len(seen) > 5


def test_one_directory_serves_one_emulator_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=r"^Another emulator keeps its accounts in .*; stop it first\.$"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


def test_another_format_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    Store(tmp_path).close()
    file = tmp_path / "emulator.sqlite3"
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match=f"has format 99, and this emulator reads format {FORMAT}"):
        Store(tmp_path)
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA application_id = 1")
    database.close()
    with pytest.raises(StoreError, match="is not an emulator's"):
        Store(tmp_path)
    file.write_bytes(b"something else" * 1000)
    with pytest.raises(StoreError, match=r"can't be read: file is not a database\.$"):
        Store(tmp_path)


def test_a_place_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"^Accounts can't be kept in .*file: File exists\.$"):
        Store(tmp_path / "file")
