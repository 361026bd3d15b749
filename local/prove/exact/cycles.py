"""Runs cycles: faults with comparisons in between, then calm and a count of rounds until all is exact.

It compares jobs, and pools, nodes and job schedules (`beside`).
"""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any

from azure.batch import BatchClient
from azure.batch.models import BatchTask, BatchTaskExecutionResult, BatchTaskState
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError

from local.dev.system.console import say
from local.prove.exact.beside import ShownResource, judge_beside, look_beside, truth_beside, unsettled_beside
from local.prove.exact.beside import Truth as BesideTruth
from local.prove.exact.chaos import CALM, Plan, kill_hosts, post_faults, struck
from local.prove.exact.counted_job import COUNTED_JOB
from local.prove.exact.counters import HighestCounters, ShownCounters, counter_differences, read_counters
from local.prove.exact.driver import Driver
from local.prove.exact.judging import ShownJob, Truth, judge, next_whole_second, read_job, rounds_taken, unsettled
from local.prove.exact.pollers import Poller, resting
from local.prove.stack.api import Stack
from local.prove.stack.rig import UNANSWERED, Rig

ROUNDS = 3  # within which every job must be exact again
_MIN_CHECKS = 3
_BETWEEN_CHECKS = (1.5, 3.5)  # seconds of running time between two pauses
_POLLS = 2  # per pause
_INTERVAL = 2.0  # seconds between rounds, as the local stack polls its account
_AFTER_LATE_REPORTS = 0.5
_MAX_BACKOFF = 40.0
_REPEATED_FOR = 1.0  # seconds for which a host may repeat an answer though another host has polled
_PUT_OFF = "the next try is in"


@dataclass(slots=True)
class Findings:
    """The results so far. `wrong` and `failures` are sentences; `rounds` has an entry per job and cycle.

    `compared` counts comparisons of jobs, `beside` those of pools, their nodes and schedules, `counted` those of
    counters of tasks.
    """

    cycles: int = 0
    checks: int = 0
    compared: int = 0
    beside: int = 0
    counted: int = 0
    late_cycles: int = 0
    wrong: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    rounds: list[int | None] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ShownResources:
    """The resources and the counters of tasks that a host shows."""

    jobs: list[ShownJob]
    beside: list[ShownResource]
    counters: ShownCounters


@dataclass(frozen=True, slots=True)
class AllTruth:
    """The true state while the emulator is paused."""

    jobs: Truth
    beside: BesideTruth

    @property
    def keys(self) -> list[str]:
        return [*(job.lower() for job in self.jobs), *self.beside]

    def flaws(self, look: ShownResources | None) -> dict[str, str]:
        """Returns the reasons why resources aren't right and exact after all faults have ended."""
        jobs, beside = (look.jobs, look.beside) if look else ([], [])
        return unsettled(jobs, self.jobs) | unsettled_beside(beside, self.beside)


class Cycles:
    """Runs cycles on a rig with running driver and pollers; `seed` draws the hosts asked and the moments."""

    def __init__(self, rig: Rig, driver: Driver, pollers: Sequence[Poller], *, seed: int) -> None:
        self.findings = Findings()
        account = rig.account
        self._client = BatchClient(rig.emulator, AzureNamedKeyCredential(account.name, account.key), retry_total=0)
        self._rig, self._driver, self._pollers = rig, driver, pollers
        self._seed = seed
        self._chance = random.Random(f"{seed}/cycles")
        self._closing = Event()
        self._highest = HighestCounters()
        self._threads = ThreadPoolExecutor(3, thread_name_prefix="chaos")

    def close(self) -> None:
        """Ends kills and faults; waits for hosts that are starting."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)
        self._client.close()

    def run(self, plan: Plan, kills: int) -> None:
        """Runs one cycle. Raises Failure if the stack itself broke."""
        controls = self._rig.controls
        controls.control("POST", "settings", dict(plan.knobs))
        if plan.deletions:
            self._driver.allow_deletions()
        killer = self._threads.submit(
            kill_hosts, self._rig, kills, self._closing, seed=f"{self._seed}/kills/{plan.number}"
        )
        faults = self._threads.submit(post_faults, controls, plan, self._closing)
        checks = 0
        while checks < _MIN_CHECKS or not (killer.done() and faults.done()):
            time.sleep(self._chance.uniform(*_BETWEEN_CHECKS))
            self._check(plan)
            checks += 1
            self._watch(killer, faults)
        with resting(self._pollers):
            self._calm(plan)
            self._settle(plan)
        self.findings.cycles += 1
        self.findings.late_cycles += bool(plan.late_seconds)

    def _watch(self, *chaos: Future[None]) -> None:
        self._rig.children.check()
        self._driver.check()
        for future in wait(chaos, timeout=0).done:
            future.result()

    def _check(self, plan: Plan) -> None:
        """Compares during faults; failing polls are expected."""
        with self._paused() as since:
            truth, seen = self._truth(), set[Any]()
            for _ in range(_POLLS):
                stack = self._rig.alive(self._chance)
                poll = self._threads.submit(_try_poll, stack) if stack else None
                while poll and not poll.done():  # answers during polls count, too
                    self._compare(plan, self._look(), truth, since, seen)
                self._compare(plan, self._look(), truth, since, seen)
        self.findings.checks += 1

    def _truth(self) -> AllTruth:
        controls = self._rig.controls
        return AllTruth(controls.truth(), truth_beside(controls, self._client))

    def _compare(
        self, plan: Plan, look: ShownResources | None, truth: AllTruth, since: datetime, seen: set[Any]
    ) -> None:
        """Compares everything not `seen` before in this pause with its truth."""
        jobs, things = (set(look.jobs) - seen, set(look.beside) - seen) if look else (set(), set())
        seen |= jobs | things
        verdicts, beside = judge(jobs, truth.jobs, since), judge_beside(things, truth.beside, since)
        self.findings.compared += verdicts.compared
        self.findings.beside += beside.compared
        self._note(self.findings.wrong, "WRONG EXACT", plan, (*verdicts.wrong, *beside.wrong))

    def _calm(self, plan: Plan) -> None:
        """Ends all faults, and waits for the last late report."""
        self._driver.end_deletions()
        controls = self._rig.controls
        self.findings.struck += struck(plan.faults, controls.control("GET", "faults")["faults"])
        controls.control("DELETE", "faults")
        controls.control("POST", "settings", dict(CALM))
        if plan.late_seconds:
            time.sleep(plan.late_seconds + _AFTER_LATE_REPORTS)

    def _settle(self, plan: Plan) -> None:
        """Counts the rounds until each job is permanently exact and right."""
        with self._paused() as since:
            truth, seen = self._truth(), set[Any]()
            looks = [truth.flaws(self._look())]
            before = self._rounds_begun()
            turn = time.monotonic()
            while looks[-1] and len(looks) <= ROUNDS:
                time.sleep(max(0.0, turn - time.monotonic()))
                turn = time.monotonic() + _INTERVAL
                self._whole_round()
                look = self._look()
                looks.append(truth.flaws(look))
                self._compare(plan, look, truth, since, seen)
            self.findings.begun.append(self._rounds_begun() - before)
            taken = rounds_taken(looks, truth.keys)
            if not looks[-1]:
                self._settle_counters(plan, controls_truth=self._rig.controls.control("GET", "truth"))
        self.findings.rounds += taken.values()
        self._note(self.findings.failures, f"NOT EXACT AFTER {ROUNDS} ROUNDS", plan, tuple(looks[-1].values()))

    def _settle_counters(self, plan: Plan, *, controls_truth: Any) -> None:
        """Compares counters at rest, and marks the rest for the counted job.

        The host that answers may have answered before the last poll, too.
        """
        time.sleep(_REPEATED_FOR)
        look, account = self._look(), self._rig.account.name
        if look is None:
            return
        self.findings.counted += 1
        differences = counter_differences(look.counters, controls_truth["accounts"][account]["taskCounters"])
        self._note(self.findings.failures, "COUNTERS DIFFER AT REST", plan, differences)
        with suppress(HttpResponseError):  # the job may be being deleted
            tasks = self._client.list_tasks(COUNTED_JOB, select=["id", "state", "executionInfo"])
            self._driver.rest({task.id or "": _failed(task) for task in tasks})

    def _whole_round(self) -> None:
        """Completes a poll of all jobs; one delayed by an earlier back-off doesn't count."""
        deadline = time.monotonic() + _MAX_BACKOFF
        while time.monotonic() < deadline:
            stack = self._chance.choice([seat.stack for seat in self._rig.seats if seat.stack])
            answer = _try_poll(stack)
            if not any(_PUT_OFF in reason["message"] for reason in answer["reasons"]):
                return
            time.sleep(0.5)

    def _rounds_begun(self) -> int:
        """Returns the rounds begun by all hosts, including ticks: each lists the jobs, on one page in calm phases."""
        return int(self._rig.controls.counters()["routes"].get("GET /jobs", {}).get("requests", 0))

    def _look(self) -> ShownResources | None:
        """Returns everything as some host shows it; None if none answers."""
        for _ in range(20):
            stack = self._rig.alive(self._chance)
            try:
                if stack:
                    counters = read_counters(stack)
                    falls = self._highest.falls(stack.api, counters)
                    self.findings.wrong += falls
                    for fall in falls:
                        say(f"     A COUNTER FELL: {fall}")
                    jobs = [read_job(job) for job in stack.jobs().values()]
                    return ShownResources(jobs, look_beside(stack), counters)
            except UNANSWERED:
                pass
            time.sleep(0.1)
        return None

    @contextmanager
    def _paused(self) -> Iterator[datetime]:
        """Pauses the emulator; yields the moment from which every T0 lies in the pause."""
        controls = self._rig.controls
        since = next_whole_second(_time(controls.control("POST", "clock", {"paused": True})))
        try:
            while _time(controls.control("GET", "clock")) < since:
                time.sleep(0.02)
            yield since
        finally:
            controls.pause(paused=False)

    def _note(self, kind_list: list[str], title: str, plan: Plan, sentences: tuple[str, ...]) -> None:
        for sentence in sentences:
            kind_list.append(sentence)
            say(f"     {title} in cycle {plan.number}: {sentence}")


def _try_poll(stack: Stack) -> Any:
    """Returns the poll's answer; one without reasons if there was none."""
    try:
        return stack.poll_all()
    except UNANSWERED:
        return {"reasons": []}


def _failed(task: BatchTask) -> bool | None:
    """Returns whether a task failed, None where it hasn't completed."""
    if task.state != BatchTaskState.COMPLETED or task.execution_info is None:
        return None
    return task.execution_info.result == BatchTaskExecutionResult.FAILURE


def _time(answer: Any) -> datetime:
    return datetime.fromisoformat(answer["time"])
