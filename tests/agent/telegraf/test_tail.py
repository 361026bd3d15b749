"""A file that another program appends to, rotates and empties."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.telegraf.tail import MAX_STEP, Tail


@dataclass
class Kept:
    text: bytes = b""
    records: int = 0
    fails: bool = False

    def put(self, lines: bytes, records: int) -> None:
        if self.fails:
            raise OSError(28, "No space left on device")
        self.text += lines
        self.records += records


def add(path: Path, text: str, mtime: int = 0) -> None:
    with path.open("a") as file:
        file.write(text)
    if mtime:
        os.utime(path, (mtime, mtime))


def tail(folder: Path, sink: Kept) -> Tail:
    return Tail(f"{folder}/metrics.json", f"{folder}/position", sink)


def test_whole_lines_are_handed_on_and_a_partial_one_waits(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    one = tail(tmp_path, sink)
    assert one.step() == 0
    add(path, "a\nb\nc")
    assert one.step() == 5
    assert (sink.text, sink.records) == (b"a\nb\n", 2)
    add(path, "c\n")
    one.step()
    assert (sink.text, sink.records) == (b"a\nb\ncc\n", 3)
    one.close()


def test_a_restart_goes_on_at_the_last_whole_line(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "a\nb")
    first = tail(tmp_path, sink)
    first.step()
    first.close()
    add(path, "b\nc\n")
    second = tail(tmp_path, sink)
    second.step()
    assert sink.text == b"a\nbb\nc\n"
    second.close()


def test_a_rename_is_followed_when_the_old_file_is_read(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "a\n")
    one = tail(tmp_path, sink)
    one.step()
    add(path, "b\n", 1000)
    path.rename(tmp_path / "metrics-2026.json")
    add(path, "c\n", 2000)
    for _ in range(3):
        one.step()
    assert sink.text == b"a\nb\nc\n"
    one.close()


def test_two_renames_during_a_pause_lose_nothing(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "a\n")
    first = tail(tmp_path, sink)
    first.step()
    first.close()
    add(path, "b\n", 1000)
    path.rename(tmp_path / "metrics-1.json")
    add(path, "c\n", 2000)
    path.rename(tmp_path / "metrics-2.json")
    add(path, "d\n", 3000)
    second = tail(tmp_path, sink)
    for _ in range(4):
        second.step()
    assert sink.text == b"a\nb\nc\nd\n"
    assert second.fields()["gaps"] == 0
    second.close()


def test_an_emptied_file_is_read_from_its_start(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "first\n")
    one = tail(tmp_path, sink)
    one.step()
    path.write_text("b\n")
    one.step()
    assert sink.text == b"first\nb\n"
    assert one.fields()["restarts"] == 1
    one.close()


def test_another_file_under_the_same_name_is_no_continuation(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "first\n")
    first = tail(tmp_path, sink)
    first.step()
    first.close()
    path.write_text("other\nsecond\n")
    second = tail(tmp_path, sink)
    second.step()
    assert sink.text == b"first\nother\nsecond\n"
    assert second.fields()["gaps"] == 1
    second.close()


@pytest.mark.parametrize("state", ["{", "[1]", "[1,2,3,-4]", '["a",1,1,1]'])
def test_a_garbled_state_begins_at_the_start(tmp_path: Path, state: str) -> None:
    sink = Kept()
    (tmp_path / "position").write_text(state)
    add(tmp_path / "metrics.json", "a\n")
    one = tail(tmp_path, sink)
    one.step()
    assert sink.text == b"a\n"
    one.close()


def test_lines_that_the_sink_refuses_come_again(tmp_path: Path) -> None:
    sink, path = Kept(), tmp_path / "metrics.json"
    add(path, "a\nb")
    one = tail(tmp_path, sink)
    one.step()
    add(path, "b\nc\n")
    sink.fails = True
    with pytest.raises(OSError, match="No space left"):
        one.step()
    sink.fails = False
    one.step()
    assert (sink.text, one.fields()["lines"]) == (b"a\nbb\nc\n", 3)
    one.close()


def test_following_outlives_failures_and_reads_the_rest_at_the_end(tmp_path: Path) -> None:
    sink, path, log = Kept(fails=True), tmp_path / "metrics.json", list[str]()
    add(path, "a" * 100 + "\n")
    one, calls = tail(tmp_path, sink), list[float]()

    def stop(seconds: float) -> bool:
        calls.append(seconds)
        sink.fails = len(calls) < 2
        return len(calls) == 3

    one.follow(stop, 5.0, log.append)
    assert calls == [5.0, 5.0, 5.0]
    assert len(sink.text) == 101
    assert log == [f"{path} can't be followed at present: OSError: [Errno 28] No space left on device."]
    one.close()


def test_a_step_is_bounded(tmp_path: Path) -> None:
    sink = Kept()
    (tmp_path / "metrics.json").write_bytes(b"x" * 999 + b"\n" + (b"y" * 999 + b"\n") * 5000)
    one = tail(tmp_path, sink)
    assert one.step() == MAX_STEP
    assert one.step() < MAX_STEP
    assert sink.records == 5001
    one.close()
