"""Units that storage refuses again and again: they hold up their session for an hour at most."""

import re
from collections.abc import Mapping
from pathlib import Path

from agent.upload.sender import INVALID_SECONDS
from tests.agent.upload.append_service import Answer, AppendService, Blob, refused, served
from tests.agent.upload.rig import Agent, SteppedClock, lines_of, texts


class ParticularService(AppendService):
    """A service that never takes a block with the word `poison`."""

    def append(self, blob: Blob, headers: Mapping[str, str], body: bytes) -> Answer:
        if "poison" in "".join(texts(body)):
            return refused(400, "InvalidInput")
        return super().append(blob, dict(headers), body)


def test_a_unit_that_is_always_refused_as_invalid_is_dropped_and_counted_after_an_hour(tmp_path: Path) -> None:
    service, clock = ParticularService(), SteppedClock()
    with served(service) as address:
        agent = Agent(tmp_path, address, clock)
        begin = clock.passed
        for text in ("a v=1 1\n", "poison v=1 1\npoison v=2 2\n", "b v=1 1\n"):
            agent.spool.put(text.encode())
        agent.send_all()
    (lines,) = lines_of({name: blob.content for name, blob in service.blobs.items()}).values()
    assert [line for line in lines if re.match("[ab] ", line)] == ["a v=1 1", "b v=1 1"]
    assert agent.spool.fields()["dropped_records"] == 2
    assert INVALID_SECONDS <= clock.passed - begin < 2 * INVALID_SECONDS


def test_a_unit_that_is_refused_for_a_while_is_not_lost(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address, SteppedClock())
        agent.spool.put(b"a v=1 1\n")
        service.faults.extend(["refuse 400"] * 12)
        agent.send_all()
    assert agent.spool.fields()["dropped_records"] == 0
    (lines,) = lines_of({name: blob.content for name, blob in service.blobs.items()}).values()
    assert lines == ["a v=1 1"]
