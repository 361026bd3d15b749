"""The thread that sends, its end, and its failures."""

import threading
import time
from collections import deque
from collections.abc import Callable
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


EVENT = b'm v=1i 1\nbatchscope_event,kind=oom_kill message="Out of memory." 1\n'


def failed(agent: Agent, service: AppendService) -> Uploader:
    """Returns the started uploader of an agent that waits after failures."""
    agent.spool.put(b"m v=0i 1\n")
    while service.faults:
        agent.step()
    uploader = Uploader(agent.spool, agent.sender, agent.log.append)
    uploader.start()
    return uploader


def become(expected: object, found: Callable[[], object]) -> bool:
    """Returns whether a value is as expected within some seconds, and stays so for a moment."""
    until = time.monotonic() + 5
    while found() != expected and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    return found() == expected


def test_an_event_is_sent_at_once_though_failures_made_the_sender_wait(tmp_path: Path) -> None:
    service = AppendService(faults=deque(["refuse 500"] * 8))
    with served(service) as address:
        agent = Agent(tmp_path, address)
        uploader = failed(agent, service)
        uploader.put(b"m v=1i 1\n", 1)
        assert become(8, lambda: len(service.requests))
        uploader.put(EVENT, 2)
        assert become(3, lambda: agent.sender.fields()["sent_units"])
        assert uploader.drain(5.0)


def test_an_event_is_tried_once_while_storage_fails(tmp_path: Path) -> None:
    service = AppendService(faults=deque(["refuse 500"] * 8))
    with served(service) as address:
        agent = Agent(tmp_path, address)
        uploader = failed(agent, service)
        service.faults.extend(["refuse 500"] * 8)
        uploader.put(EVENT, 2)
        assert become(9, lambda: len(service.requests))
        service.faults.clear()
        assert uploader.drain(5.0)


def test_an_event_waits_as_long_as_the_service_asked_for(tmp_path: Path) -> None:
    service = AppendService(faults=deque(["refuse 503"]))
    with served(service) as address:
        agent = Agent(tmp_path, address)
        uploader = failed(agent, service)
        uploader.put(EVENT, 2)
        assert not uploader.drain(0.3)
        assert len(service.requests) == 1
