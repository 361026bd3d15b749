"""The workload and the emulator as users start them."""

import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Running:
    """The emulator's address, and a function that starts workloads, which are stopped after the test."""

    url: str
    start: Callable[..., "subprocess.Popen[str]"]

    def control(self, name: str, body: dict[str, Any] | None = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_emulator/{name}", content)  # noqa: S310 - our own loopback
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
            return json.load(response)

    def jobs(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.control("truth")["accounts"]["demo"]["jobs"]
        return found

    def until(self, condition: Callable[[dict[str, dict[str, Any]]], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition(self.jobs()):
            assert time.monotonic() < deadline, self.jobs()
            time.sleep(0.2)


def own(jobs: dict[str, dict[str, Any]]) -> set[str]:
    """Returns the jobs that no schedule created."""
    return {name for name in jobs if ":" not in name}


def started(cleanup: contextlib.ExitStack, *arguments: str) -> "subprocess.Popen[str]":
    program = [sys.executable, "-u", "-m", *arguments]
    child = subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    cleanup.callback(child.wait, 10)
    cleanup.callback(child.terminate)
    return child


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    """Yields the address of an emulator that the tests share; each begins with a reset, which ends pauses too."""
    with contextlib.ExitStack() as cleanup:
        child = started(cleanup, "local.batch_emulator", "--port", "0", "--speed", "60")
        assert child.stdout is not None
        yield child.stdout.readline().removeprefix("listening on ").strip()


@pytest.fixture
def running(emulator: str) -> Iterator[Running]:
    with contextlib.ExitStack() as cleanup:

        def workload(*, scenario: str = "quiet", key: str = DEVELOPMENT_KEY) -> "subprocess.Popen[str]":
            where = ("--emulator", emulator, "--account", "demo", "--key", key)
            return started(cleanup, "local.workload", "--scenario", scenario, *where, "--speed", "60")

        found = Running(emulator, workload)
        found.control("reset", {})
        yield found


def test_the_quiet_scenario_comes_to_rest(running: Running) -> None:
    running.start()
    running.until(lambda jobs: len(jobs) == 2 and jobs["import-2025"]["completed"] == 200)
    counts = running.jobs()
    assert (counts["import-2025"]["failed"], counts["license-servers"]["running"]) == (2, 4)
    time.sleep(2)
    assert running.jobs() == counts


def test_jobs_of_the_demo_end_are_deleted_and_come_again_by_themselves_or_by_schedule(running: Running) -> None:
    running.start(scenario="demo")
    running.until(lambda jobs: len(own(jobs)) == 9 and jobs["wind-tunnel"]["total"] == 300)
    running.until(lambda jobs: jobs.get("smoke-test", {}).get("state") == "completed")
    running.until(lambda jobs: "smoke-test" not in jobs)
    running.until(lambda jobs: jobs.get("smoke-test", {}).get("state") == "active")
    assert running.jobs()["wind-tunnel"]["active"] == 300
    running.until(lambda jobs: jobs.get("energy-report:job-2", {}).get("completed") == 12)
    running.until(lambda jobs: "energy-report:job-1" not in jobs)


def test_a_reset_starts_the_scenario_again(running: Running) -> None:
    running.start()
    running.until(lambda jobs: jobs.get("import-2025", {}).get("total") == 200)
    running.control("reset", {})
    assert running.jobs() == {}
    running.until(lambda jobs: jobs.get("import-2025", {}).get("total") == 200)


def test_writes_wait_while_the_emulator_is_paused(running: Running) -> None:
    running.control("clock", {"paused": True})
    running.start()
    time.sleep(3)
    assert running.jobs() == {}
    running.control("clock", {"paused": False})
    running.until(lambda jobs: len(jobs) == 2)


def test_faults_of_the_service_are_outlived(running: Running) -> None:
    running.control("faults", {"method": "POST", "path": "*/addtaskcollection", "status": 503, "count": 6})
    running.control("faults", {"method": "POST", "path": "/jobs", "reset": True, "count": 2})
    running.start()
    running.until(lambda jobs: jobs.get("import-2025", {}).get("total") == 200)


def test_a_workload_that_was_stopped_is_picked_up_by_the_next(running: Running) -> None:
    first = running.start()
    running.until(lambda jobs: len(jobs) == 2)
    first.kill()
    first.wait()
    running.start()
    running.until(lambda jobs: jobs["import-2025"]["total"] == 200 and jobs["license-servers"]["total"] == 4)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_without_complaint(running: Running, how: signal.Signals) -> None:
    child = running.start(scenario="demo")
    running.until(lambda jobs: len(own(jobs)) == 8)
    child.send_signal(how)
    _, complaints = child.communicate(timeout=3)
    assert (child.returncode, complaints) == (0, "")


def test_a_wrong_key_is_one_sentence_and_an_exit_code(running: Running) -> None:
    child = running.start(key="AAAA")
    _, complaint = child.communicate(timeout=15)
    assert child.returncode == 1
    assert complaint == "The emulator refuses the account 'demo': 403 AuthenticationFailed.\n"


def test_a_real_account_is_refused_in_one_sentence() -> None:
    address = "https://demo.westeurope.batch.azure.com"
    program = [sys.executable, "-m", "local.workload", "--emulator", address, "--account", "demo", "--key", "AAAA"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "writes only to an emulator on this machine" in done.stderr
