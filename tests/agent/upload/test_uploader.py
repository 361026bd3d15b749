"""The thread that sends, its end, and its failures."""

import threading
from pathlib import Path

import pytest

from agent.upload.uploader import Uploader
from tests.agent.upload.append_service import AppendService, served
from tests.agent.upload.rig import Agent, lines_of


def test_put_wakes_the_sender_and_drain_sends_the_rest_and_seals(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address)
        uploader = Uploader(agent.spool, agent.sender, agent.log.append)
        uploader.start()
        uploader.put(b"m v=1i 1\n", 1)
        uploader.put(b"m v=2i 1\n", 1)
        assert uploader.drain(5.0)
    ((_, lines),) = lines_of({name: blob.content for name, blob in service.blobs.items()}).items()
    assert lines == ["m v=1i 1", "m v=2i 1"]
    assert [blob.sealed for blob in service.blobs.values()] == [True]
    assert list(tmp_path.iterdir()) == []
    fields = uploader.fields()
    assert (fields["flushed_records"], fields["sent_units"], fields["spooled_units"]) == (2, 2, 0)


def test_without_a_network_drain_ends_in_time_and_units_stay(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "http://127.0.0.1:1")
    uploader = Uploader(agent.spool, agent.sender, agent.log.append)
    uploader.start()
    uploader.put(b"m v=1i 1\n", 1)
    assert not uploader.drain(0.1)
    assert len(list(tmp_path.rglob("*.gz"))) == 1
    assert "127.0.0.1 doesn't answer" in agent.log[0]


def test_a_drain_before_the_start_sends_nothing_and_ends(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "http://127.0.0.1:1")
    uploader = Uploader(agent.spool, agent.sender, agent.log.append)
    uploader.put(b"m v=1i 1\n", 1)
    assert not uploader.drain(0.1)


def test_a_defect_of_the_sender_is_logged_and_does_not_end_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = threading.Event()

    def broken() -> float:
        called.set()
        raise ValueError("secret")

    agent = Agent(tmp_path, "http://127.0.0.1:1")
    monkeypatch.setattr(agent.sender, "step", broken)
    uploader = Uploader(agent.spool, agent.sender, agent.log.append)
    uploader.start()
    assert called.wait(5.0)
    assert uploader.drain(5.0)
    assert set(agent.log) == {"The uploader failed (ValueError); it goes on."}
