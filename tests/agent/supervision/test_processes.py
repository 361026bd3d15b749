"""Real processes: the start in the background, the supervised child, its end with the supervisor."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
CHILD = """
import json, os, signal, sys, time
from agent.supervision.child import end_with_supervisor
watched = end_with_supervisor()
def end(signum, frame):
    open(sys.argv[1] + "/ended", "a").write(signal.Signals(signum).name + " ")
    os._exit(0)
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(one, end)
blocked = [one.name for one in signal.pthread_sigmask(signal.SIG_BLOCK, ())]
state = {"pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "folder": os.getcwd(),
         "blocked": blocked, "watched": watched, "shared": os.environ.get("AZ_BATCH_POOL_ID")}
open(sys.argv[1] + "/state.new", "w").write(json.dumps(state))
os.rename(sys.argv[1] + "/state.new", sys.argv[1] + "/state")
time.sleep(20)
"""
START = """
import os, sys
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.supervision.background import run_in_background
from agent.supervision.daemon import start_in_background, warn_on_stderr
folder, child, repository = sys.argv[1:]
command = [sys.executable, "-c", child, folder]
environment = {"PYTHONPATH": repository, "AZ_BATCH_POOL_ID": "render"}
def run():
    run_in_background(folder, command, environment, Machine(), Clock(), task="sum", version="0.2.0")
sys.exit(start_in_background(run, Machine(), warn_on_stderr))
"""


def awaited[T](get: Callable[[], T | None]) -> T:
    """Returns what `get` returns once that isn't None; fails after some seconds."""
    until = time.monotonic() + 15.0
    while time.monotonic() < until:
        found = get()
        if found is not None:
            return found
        time.sleep(0.02)
    pytest.fail("it took too long")


def written(path: Path) -> Callable[[], str | None]:
    return lambda: path.read_text() if path.exists() else None


def is_gone(pid: int) -> Callable[[], bool | None]:
    def gone() -> bool | None:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z" or None

    return gone


def started(folder: Path) -> dict[str, object]:
    """Starts an agent in the background and returns what its child says of itself."""
    (folder / "state").unlink(missing_ok=True)
    begin = time.monotonic()
    # its output is a pipe, which would not end before a background process that kept it open
    done = subprocess.run(
        [sys.executable, "-c", START, str(folder), CHILD, str(REPOSITORY)],
        env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, timeout=15, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - begin < 10.0
    state: dict[str, object] = json.loads(awaited(written(folder / "state")))
    return state


def registrations(folder: Path) -> dict[int, Path]:
    """Returns the files of the registry by pid."""
    return {int(file.name.partition("-")[0]): file for file in (folder / "instances").glob("*.json")}


def ended(*pids: object) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(int(str(pid)), signal.SIGKILL)


def test_an_agent_in_the_background_has_a_session_of_its_own_and_passes_requests_on(tmp_path: Path) -> None:
    state = started(tmp_path)
    supervisor = int(str(state["parent"]))
    try:
        assert state["session"] not in (os.getsid(0), supervisor)
        assert (state["folder"], state["blocked"], state["watched"], state["shared"]) == ("/", [], True, "render")
        assert Path(f"/proc/{supervisor}/comm").read_text() == "batchscope\n"
        registered = json.loads(registrations(tmp_path)[supervisor].read_text())
        assert (registered["task"], registered["version"]) == ("sum", "0.2.0")
        assert (tmp_path / "agent.log").stat().st_mode & 0o777 == 0o600
        os.kill(supervisor, signal.SIGHUP)
        awaited(is_gone(supervisor))
        assert (tmp_path / "ended").read_text() == "SIGHUP "
        assert not list((tmp_path / "instances").glob("*.json"))
    finally:
        ended(supervisor, state["pid"])


def test_a_second_start_replaces_the_first_and_one_agent_remains(tmp_path: Path) -> None:
    first = started(tmp_path)
    second = started(tmp_path)
    try:
        awaited(is_gone(int(str(first["parent"]))))
        awaited(is_gone(int(str(first["pid"]))))
        assert (tmp_path / "ended").read_text() == "SIGINT "
        assert is_gone(int(str(second["pid"])))() is None
        assert list(registrations(tmp_path)) == [second["parent"]]
    finally:
        ended(first["parent"], first["pid"], second["parent"], second["pid"])


def test_a_child_ends_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    state = started(tmp_path)
    try:
        os.kill(int(str(state["parent"])), signal.SIGKILL)
        awaited(is_gone(int(str(state["pid"]))))
        assert (tmp_path / "ended").read_text() == "SIGTERM "
    finally:
        ended(state["parent"], state["pid"])


def test_a_dead_child_is_replaced_a_second_later(tmp_path: Path) -> None:
    state = started(tmp_path)
    (tmp_path / "state").unlink()
    os.kill(int(str(state["pid"])), signal.SIGKILL)
    again = json.loads(awaited(written(tmp_path / "state")))
    try:
        assert again["parent"] == state["parent"]
        assert "ended by the signal 9." in (tmp_path / "agent.log").read_text()
    finally:
        os.kill(again["parent"], signal.SIGTERM)
        awaited(is_gone(again["parent"]))


def test_a_start_that_fails_is_one_sentence_and_success() -> None:
    code = (
        "import os, sys\n"
        "from agent.machine.machine import Machine\n"
        "from agent.supervision.daemon import start_in_background, warn_on_stderr\n"
        "def fork(): raise OSError(11, 'Resource temporarily unavailable')\n"
        "os.fork = fork\n"
        "sys.exit(start_in_background(lambda: None, Machine(), warn_on_stderr))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == (
        "batchscope-agent: The agent wasn't started, so that this node isn't measured: "
        "[Errno 11] Resource temporarily unavailable.\n"
    )
