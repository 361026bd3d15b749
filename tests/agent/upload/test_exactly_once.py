"""Each unit is stored exactly once or counted as dropped, whatever the network, the service and the machine do."""

import re
import tempfile
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from agent.upload.blob_series import MAX_ENDED
from agent.upload.spool import Limits
from tests.agent.upload.append_service import FAULTS, AppendService, served
from tests.agent.upload.rig import Agent, DiedError, DyingDisk, SteppedClock, lines_of, texts
from tests.profiles import deep_examples, share_of

ACTIONS = some.sampled_from(
    ["put", "put", "step", "step", "step", "crash", "lose position", "read-only", "writable"]
) | some.integers(1, 9)


class Story:
    """A node's agents, one after another, and the lines that they took on disk."""

    def __init__(self, folder: Path, address: str, max_blocks: int, limit: int) -> None:
        self.folder, self.address, self.max_blocks, self.limit = folder, address, max_blocks, limit
        self.clock, self.disk = SteppedClock(), DyingDisk()
        self.next, self.taken = 0, set[int]()
        self.agent = self.begin()

    def begin(self) -> Agent:
        self.clock.passed += 1.0
        limits = Limits(self.limit, self.limit)
        return Agent(self.folder, self.address, self.clock, self.disk, limits, self.max_blocks)

    def crash(self) -> None:
        self.agent.spool.close()
        self.disk = DyingDisk()
        self.agent = self.begin()

    def act(self, action: str | int) -> None:
        try:
            self.do(action)
        except DiedError:
            self.crash()

    def do(self, action: str | int) -> None:
        if isinstance(action, int):
            self.disk.steps = action
        elif action == "put":
            self.next += 1
            self.agent.spool.put(f"m v={self.next}i 1\n".encode())
            if not self.disk.is_read_only:
                self.taken.add(self.next)
        elif action in ("read-only", "writable"):
            self.disk.is_read_only = action == "read-only"
        elif action == "step":
            self.agent.step()
        elif action == "lose position":
            for kept in self.folder.glob("*/position.json"):
                kept.unlink()
        else:
            self.crash()

    def end(self) -> None:
        self.crash()
        self.agent.send_all()
        self.agent.sender.finish()


def lived(
    folder: Path, service: AppendService, address: str, actions: list[str | int], *, limit: int, blocks: int
) -> Story:
    story = Story(folder, address, blocks, limit)
    for action in actions:
        story.act(action)
    service.faults.clear()
    story.end()
    return story


@settings(max_examples=deep_examples() * 2 // 5)
@given(
    some.lists(ACTIONS, min_size=20, max_size=40),
    some.lists(some.sampled_from((*["none"] * 20, *FAULTS)), min_size=20, max_size=60),
    some.sampled_from([300, 1 << 20]),
    some.sampled_from([3, 50_000]),
)
def test_each_line_is_stored_once_or_counted_as_dropped(
    actions: list[str | int], faults: list[str], limit: int, blocks: int
) -> None:
    service = AppendService(max_blocks=5, faults=deque(faults))
    with tempfile.TemporaryDirectory() as folder, served(service) as address:
        story = lived(Path(folder), service, address, actions, limit=limit, blocks=blocks)
        assert [name for name in Path(folder).glob("2*") if any(name.glob("*.gz"))] == []
    found, dropped = [], 0
    for lines in lines_of({name: blob.content for name, blob in service.blobs.items()}).values():
        numbers = [int(line.split("=")[1].split("i")[0]) for line in lines if line.startswith("m ")]
        assert numbers == sorted(numbers)
        found += numbers
        reports = [re.search(r"dropped_records=(\d+)i", line) for line in lines]
        dropped += max((int(report[1]) for report in reports if report), default=0)
    assert len(found) == len(set(found))
    assert len(story.taken - set(found)) <= dropped
    if limit > 300:
        assert story.taken <= set(found)
        assert dropped == 0


REQUESTS = 6  # of the story below, without faults
ENDS = (*((end, 0) for end in ("none", "crash", "lose position")), *(("die", step) for step in (1, 2, 4)))


_MISHAPS = ("reset before", "reset after", "fail after", "late", "cut off", "refuse 412", "foreign")


@pytest.mark.parametrize(("end", "fault"), share_of([(end, fault) for end in ENDS for fault in _MISHAPS], 3), ids=str)
def test_no_fault_at_any_request_doubles_or_loses_a_unit(fault: str, end: tuple[str, int], tmp_path: Path) -> None:
    """The agent then goes on, ends at once, loses its note of the position, or dies at one of its next writes."""
    what, step = end
    for request in range(REQUESTS):
        service = AppendService(faults=deque([*["none"] * request, fault]))
        with served(service) as address:
            story = Story(tmp_path / str(request), address, 50_000, 1 << 20)
            for _ in range(2):
                story.act("put")
                story.act("step")
            story.act(step if what == "die" else "step")
            for action in ("step", *([what] if what in ("crash", "lose position") else []), "step"):
                story.act(action)
            service.faults.clear()
            story.end()
        stored = lines_of({name: blob.content for name, blob in service.blobs.items()}).values()
        found = [line for lines in stored for line in lines if line.startswith("m ")]
        assert sorted(found) == ["m v=1i 1", "m v=2i 1"], request


def test_a_lost_answer_and_a_request_that_arrives_late_store_a_unit_once(tmp_path: Path) -> None:
    for fault in ("reset after", "fail after", "late", "refuse 412", "refuse 409"):
        service = AppendService()
        with served(service) as address:
            agent = Agent(tmp_path / fault, address)
            agent.spool.put(b"m v=1i 1\n")
            agent.send_all()
            agent.spool.put(b"m v=2i 1\n")
            service.faults.append(fault)
            agent.send_all()
            agent.spool.put(b"m v=3i 1\n")
            agent.send_all()
        ((_, lines),) = lines_of({name: blob.content for name, blob in service.blobs.items()}).items()
        assert lines == ["m v=1i 1", "m v=2i 1", "m v=3i 1"], fault
        assert len(service.blobs) == 1


@pytest.mark.parametrize("fault", share_of(FAULTS, 3))
def test_the_next_blob_follows_one_with_enough_ended_attempts_and_nothing_is_stored_twice(
    tmp_path: Path, fault: str
) -> None:
    unit = MAX_ENDED // 2
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address)
        for first in range(0, unit * 3, unit):
            lines = [f"batchscope_task_attempt,task_id={task} duration=1 1" for task in range(first, first + unit)]
            agent.spool.put("".join(f"{line}\n" for line in ["m v=1i 1", *lines]).encode())
            service.faults.append(fault)
            agent.send_all()
    blobs = {name: blob.content for name, blob in service.blobs.items()}
    ((_, lines),) = lines_of(blobs).items()
    assert [line.split()[0].partition("=")[2] for line in lines if "attempt" in line] == list(map(str, range(unit * 3)))
    ended = ["\n".join(texts(content)).count("batchscope_task_attempt") for content in blobs.values()]
    assert max(ended) <= MAX_ENDED
    assert (len(blobs) == 2) or fault == "foreign"


@pytest.mark.parametrize("ends", ["crash", "lose position"])
def test_ended_attempts_count_on_where_another_agent_sends_the_rest_of_a_session(tmp_path: Path, ends: str) -> None:
    unit = MAX_ENDED // 2
    service = AppendService()
    with served(service) as address:
        story = Story(tmp_path, address, 50_000, 1 << 20)
        for first in range(0, unit * 4, unit):
            lines = [f"batchscope_task_attempt,task_id={task} duration=1 1\n" for task in range(first, first + unit)]
            story.agent.spool.put("".join(["m v=1i 1\n", *lines]).encode())
        for action in ("step", "step", ends, "crash"):
            story.act(action)
        story.agent.send_all()
    blobs = {name: blob.content for name, blob in service.blobs.items()}
    ended = ["\n".join(texts(content)).count("batchscope_task_attempt") for content in blobs.values()]
    assert max(ended) <= MAX_ENDED
    assert sum(ended) == unit * 4


def test_the_next_blob_follows_one_with_enough_blocks_that_is_sealed(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address, max_blocks=3)
        for number in range(5):
            agent.spool.put(f"m v={number}i 1\n".encode())
        agent.send_all()
        agent.sender.finish()
    name = agent.spool.own.name
    assert {key: (blob.blocks, blob.sealed) for key, blob in service.blobs.items()} == {
        f"telemetry/nodes/n1/{name}.0.gz": (3, True),
        f"telemetry/nodes/n1/{name}.1.gz": (3, True),
        f"telemetry/nodes/n1/{name}.2.gz": (2, True),
    }
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_blob_is_followed_by_the_next(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address, opening="")
        agent.spool.put(b"m v=1i 1\n")
        agent.send_all()
        service.blobs.clear()
        agent.spool.put(b"m v=2i 1\n")
        agent.send_all()
    assert [key.rsplit(".", 2)[1] for key in service.blobs] == ["1"]


def test_a_lost_position_is_found_by_the_last_units_name(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        agent = Agent(tmp_path, address)
        agent.spool.put(b"m v=1i 1\n")
        kept = agent.spool.own.units[0]
        content = agent.spool.own.content(kept)
        agent.send_all()
        folder = tmp_path / agent.spool.own.name
        (folder / "position.json").unlink()
        (folder / f"{kept.number:010d}.1.gz").write_bytes(content)
        agent.spool.close()
        Agent(tmp_path, address).send_all()
    ((_, lines),) = lines_of({name: blob.content for name, blob in service.blobs.items()}).items()
    assert lines == ["m v=1i 1"]


def test_a_blob_that_another_began_is_followed_by_the_next_though_the_position_is_lost(tmp_path: Path) -> None:
    service = AppendService(faults=deque(["none", "none", "none", "foreign", "reset before"]))
    with served(service) as address:
        story = Story(tmp_path, address, 50_000, 1 << 20)
        for action in ("put", "step", "crash"):
            story.act(action)
        story.end()
    assert lines_of({name: blob.content for name, blob in service.blobs.items()}).popitem()[1] == ["m v=1i 1"]


def test_counts_of_dropped_units_are_sent_though_no_unit_is_left(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        story = Story(tmp_path, address, 50_000, 300)
        for action in (*["put"] * 8, "step", "step", "step", "step", "crash"):
            story.act(action)
        story.end()
    (lines,) = lines_of({name: blob.content for name, blob in service.blobs.items()}).values()
    assert lines[:4] == ["m v=5i 1", "m v=6i 1", "m v=7i 1", "m v=8i 1"]
    assert "dropped_records=4i" in lines[4]


def test_a_session_that_could_not_be_taken_over_is_taken_over_later(tmp_path: Path) -> None:
    service = AppendService()
    with served(service) as address:
        story = Story(tmp_path, address, 50_000, 300)
        actions: list[str | int] = [*["put"] * 8, 3, "put", 1, "step"]
        for action in actions:
            story.act(action)
        story.end()
    assert [name for name in tmp_path.glob("2*") if any(name.glob("*.gz"))] == []
