"""Jobs of real processes under the agent: its records, as the app decodes them, give the findings that were planted."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import pytest

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.records.line_protocol import text_of
from agent.records.record import ENDED_ATTEMPT, Record
from agent.tasks.task_collector import TaskCollector
from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.offers import GIB, NodeOffer, SlotOffer
from shared.domain.efficiency.task_groups import TaskGroup
from shared.domain.telemetry.decode.decoding import Decoder
from shared.domain.telemetry.records.startup_records import identity_of_tags
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt, attempt_of

TASKS = 5  # all of a job, so that so few suffice
MEBI = 1 << 20
JOBS: Mapping[str, tuple[int, bool, SlotOffer, str | None]] = {
    "small": (40, False, SlotOffer(NodeOffer("standard_e2s_v5", 2, 4 * GIB), 2, 1), "memoryAboveNeed"),
    "large": (140, False, SlotOffer(NodeOffer("made_up", 1, 145 * MEBI), 1, 1), "memoryNearLimit"),
    "sound": (140, False, SlotOffer(NodeOffer("made_up", 1, 225 * MEBI), 1, 1), None),
    "single": (40, True, SlotOffer(NodeOffer("standard_d4s_v5", 4, 16 * GIB), 1, 1), "oneBusyCore"),
}
"""By name the MiB that its tasks hold, whether they keep a core busy, what their slots offer, and the finding.

None of these depends on how much of a core a busy machine gives them.
"""
_PROGRAM = """
import sys, threading
held = b"x" * ({memory} << 20)
ends = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ends.set())).start()
print(1, flush=True)
while {busy} and not ends.is_set():
    pass
"""


@contextmanager
def task(job: str, name: str, program: str) -> Iterator[None]:
    """Runs a program as a task until it has printed a line; its standard input ends with the block."""
    environment = {"PATH": os.environ["PATH"], "AZ_BATCH_JOB_ID": job, "AZ_BATCH_TASK_ID": name}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=-1, stdout=-1, env=environment, text=True, start_new_session=True
    ) as child:
        assert child.stdout
        child.stdout.readline()
        yield


def ended_tasks() -> list[Record]:
    """Runs the tasks of all jobs, and returns the agent's records of their ends."""
    collector = TaskCollector(Machine(), Clock())
    collector.collect(time.time_ns())
    with ExitStack() as running:
        for kind, (memory, busy, _, _) in JOBS.items():
            for number in range(TASKS):
                program = _PROGRAM.format(memory=memory, busy=busy)
                running.enter_context(task(f"{kind}-{os.getpid()}", f"task-{number}", program))
        time.sleep(1.0)  # tables are shared for so long
        collector.collect(time.time_ns())
    time.sleep(1.0)
    return [one for one in collector.collect(time.time_ns()) if one.measurement == ENDED_ATTEMPT]


def as_the_app_reads(records: list[Record], sizes: Mapping[str, str]) -> Iterator[MeasuredAttempt]:
    """Yields the runs in the agent's lines; `sizes` are VM sizes by job."""
    for step in Decoder().steps(text_of(records, time.time_ns()).encode(), 0, is_last=True):
        for metric in step.metrics:
            whose = identity_of_tags(metric.tags)
            found = attempt_of(metric, whose, sizes.get(whose.job, ""))
            if found:
                yield found


@pytest.fixture(autouse=True)
def _without_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AZ_BATCH_"):
            monkeypatch.delenv(name)


def test_planted_wastes_of_real_tasks_are_named_and_a_sound_job_is_not() -> None:
    jobs = {f"{kind}-{os.getpid()}": job for kind, job in JOBS.items()}
    runs = list(as_the_app_reads(ended_tasks(), {job: offer.node.vm_size for job, (_, _, offer, _) in jobs.items()}))
    for job, (_, _, offer, planted) in jobs.items():
        own = [one for one in runs if one.job == job]
        assert len(own) == TASKS, runs
        found = efficiency_findings(EfficiencyEvidence(job, TaskGroup.of(own), offer, TASKS))
        assert [one.rule for one in found] == ([planted] if planted else []), own
