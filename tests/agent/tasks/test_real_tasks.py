"""Real processes with known behaviour, as tasks of a job of the test's own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.tasks.task_collector import TaskCollector

JOB = f"job-{os.getpid()}"
BUSY = "import time\nwhile time.process_time() < {}: pass\n"
HOLD = "import sys; print(1, flush=True); sys.stdin.read()\n"


class Watched:
    """A collector on this machine, of which only the records of this test's job count."""

    def __init__(self) -> None:
        self.collector = TaskCollector(Machine(), Clock())
        self.sample()

    def sample(self) -> dict[tuple[str, str], Record]:
        time.sleep(1.0)  # tables are shared for so long
        records = self.collector.collect(time.time_ns())
        return {(one.measurement, one.tags["task_id"]): one for one in records if one.tags.get("job_id") == JOB}


@contextmanager
def task(name: str, program: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a program as a task until it has printed a line; its standard input ends with the block."""
    environment = {"PATH": os.environ["PATH"], "AZ_BATCH_JOB_ID": JOB, "AZ_BATCH_TASK_ID": name}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=-1, stdout=-1, env=environment, text=True, start_new_session=True
    ) as child:
        assert child.stdout
        child.stdout.readline()
        yield child


def cpu(record: Record) -> float:
    return float(record.fields["cpu_time_user"]) + float(record.fields["cpu_time_system"])


def test_two_busy_tasks_are_counted_apart() -> None:
    watched = Watched()
    with task("short", BUSY.format(0.2) + HOLD), task("long", BUSY.format(0.6) + HOLD):
        found = watched.sample()
    assert 0.18 <= cpu(found["batchscope_task", "short"]) <= 0.4
    assert 0.58 <= cpu(found["batchscope_task", "long"]) <= 0.8
    ended = watched.sample()
    assert 0.18 <= cpu(ended["batchscope_task_attempt", "short"]) <= 0.4


def test_forks_that_die_quickly_are_counted_with_the_process_that_waits_for_them() -> None:
    child = f"  if os.fork() == 0:\n    exec({BUSY.format(0.02)!r}); os._exit(0)\n  os.wait()\n"
    forks = "import os\nfor _ in range(20):\n" + child
    watched = Watched()
    with task("forks", forks + HOLD):
        record = watched.sample()["batchscope_task", "forks"]
    assert 0.35 <= cpu(record) <= 0.8
    assert record.fields["num_processes"] == 1


def test_a_ramp_of_memory_leaves_its_peak() -> None:
    watched = Watched()
    with task("ramp", "held = b'x' * (80 << 20); del held\n" + HOLD):
        record = watched.sample()["batchscope_task", "ramp"]
    assert 80 << 20 <= record.fields["memory_peak"] <= 110 << 20  # type: ignore[operator]
    assert record.fields["memory_rss"] < 60 << 20  # type: ignore[operator]


def test_a_daemon_that_left_the_session_stays_with_its_task() -> None:
    daemon = (
        "import os, sys\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n"
        f"    os.environ.clear(); exec({HOLD!r}); os._exit(0)\n  os._exit(0)\nos.wait(); sys.stdin.read()\n"
    )
    watched = Watched()
    with task("daemon", daemon) as child:
        record = watched.sample()["batchscope_task", "daemon"]
        assert record.fields["num_processes"] == 2
        assert watched.collector.task_of(child.pid) is not None


@pytest.fixture(autouse=True)
def _without_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AZ_BATCH_"):
            monkeypatch.delenv(name)
