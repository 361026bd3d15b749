"""Records at the end of tasks' runs, as the node agent writes them: each run once, and not too many in a blob."""

from collections.abc import Iterable

import pytest

from local.batch_emulator.exports.telemetry_blocks import Block, BlockBuilder
from local.batch_emulator.telemetry.hardware import GIB, AgentSession, hardware_of
from local.batch_emulator.telemetry.samplers import EndedSession, NodeSample, RunningTask
from tests.emulator.storage.telemetry_blobs import ONCE, Record

SECOND = 10_000_000
START = 1_700_000_000 * SECOND
PERIOD = 5


def session(size: str = "standard_d4s_v5", vcpus: int = 4) -> AgentSession:
    return AgentSession("pool", "node", 1, hardware_of(size, vcpus), False, "10.0.0.4", START, START)


def built(packer: BlockBuilder, life: AgentSession, shown: Iterable[Iterable[RunningTask]]) -> list[Block]:
    """Returns the blocks of samples with these running tasks, and of the session's end."""
    samples = [
        NodeSample(life, at, START + at * PERIOD * SECOND, False, tuple(tasks)) for at, tasks in enumerate(shown)
    ]
    return packer.build([*samples, EndedSession(life, is_abrupt=False)])


def ended(blocks: Iterable[Block]) -> list[Record]:
    records = [record for block in blocks for record in block.records]
    return [record for record in records if record["name"] == "batchscope_task_attempt"]


def running(name: str, at: int, *, share: float = 0.5) -> RunningTask:
    return RunningTask("job", name, share, at * PERIOD, 0.0, START)


def test_a_run_that_a_sample_shows_no_more_has_one_record_with_its_use() -> None:
    blocks = built(BlockBuilder("demo", "1", PERIOD), session(), [[running("t", at)] for at in range(12)] + [[], []])
    (record,) = ended(blocks)
    assert record["tags"] == {
        "job_id": "job", "task_id": "t", "task_attempt": "1700000000", "cpu_time_from": "samples",
        "memory_peak_from": "samples",
    }  # fmt: skip
    fields = record["fields"]
    assert (fields["duration"], fields["start_time"], fields["end_time"]) == (60, 1_700_000_000, 1_700_000_060)
    assert 0.3 < (fields["cpu_time_user"] + fields["cpu_time_system"]) / 60 < 2.1
    assert 0.5 * GIB < fields["memory_peak"] < 8 * GIB
    assert fields["max_threads"] == 2
    assert "gpu_usage" not in fields


def test_a_task_that_runs_again_has_another_record() -> None:
    again = RunningTask("job", "t", 0.5, 0.0, 0.0, START + 10 * SECOND)
    found = ended(built(BlockBuilder("demo", "1", PERIOD), session(), [[running("t", 0)], [], [again], []]))
    assert [record["tags"]["task_attempt"] for record in found] == ["1700000000", "1700000010"]


def test_on_a_node_with_gpus_a_run_has_their_use() -> None:
    life = session("standard_nc48ads_a100_v4", 48)
    (record,) = ended(built(BlockBuilder("demo", "1", PERIOD), life, [[running("t", at)] for at in range(12)] + [[]]))
    assert 60 < record["fields"]["gpu_usage"] < 200
    assert record["fields"]["gpu_memory_peak"] == int(0.7 * 0.5 * life.hardware.gpus * 80 * GIB)


def test_after_600_ended_runs_another_blob_begins_with_startup_records() -> None:
    shown = [[running(f"t{at}-{number}", 0, share=0.01) for number in range(100)] for at in range(9)]
    blocks = built(BlockBuilder("demo", "1", PERIOD), session(), [*shown, []])
    assert len(ended(blocks)) == 900
    (first,) = [at for at, block in enumerate(blocks) if block.begins_blob]
    assert all(record["tags"][ONCE] == "once" for record in blocks[first].records)
    assert (len(ended(blocks[:first])), len(ended(blocks[first:]))) == (600, 300)


@pytest.mark.parametrize("shown", [[[]], [[running("t", 0)]]])
def test_runs_that_last_have_no_record(shown: list[list[RunningTask]]) -> None:
    assert ended(built(BlockBuilder("demo", "1", PERIOD), session(), shown)) == []
