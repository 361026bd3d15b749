"""`dev.py up` as a user starts it: real processes, a real Azurite, tiny scripts for the rest."""

import http.client
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from tests.dev.miniature import Miniature, eventually, is_alive

BOUND_SECONDS = 5.0
NAMES = {
    "dashboard", "api", "emulator", "blob", "queue", "table",
    "storageConnectionString", "batchAccount", "batchKey", "pids",
}  # fmt: skip


def test_up_reports_all_addresses_once_it_answers(miniature: Miniature) -> None:
    miniature.up()
    note = miniature.read_note()
    assert set(note) == NAMES
    assert set(note["pids"]) == {"host", "emulator", "azurite", "workload", "machine"}
    assert note["api"] == note["dashboard"] + "api"
    assert note["blob"] in note["storageConnectionString"]
    connection = http.client.HTTPConnection(urlsplit(note["api"]).netloc)
    connection.request("GET", "/api/health")
    assert connection.getresponse().status == 200
    assert all(is_alive(pid) for pid in miniature.pids())
    assert miniature.note.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_ends_everything_up_started_and_only_that(miniature: Miniature, number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as bystander:
        running = miniature.up()
        pids = miniature.pids()
        begun = time.monotonic()
        running.send_signal(number)
        output, complaints = running.communicate(timeout=10)
        assert time.monotonic() - begun < BOUND_SECONDS
        assert running.returncode == 0, complaints
        assert "Stopped." in output
        assert [pid for pid in pids if is_alive(pid)] == []
        assert not miniature.note.exists()
        assert bystander.poll() is None
        bystander.kill()


def test_children_that_will_not_listen_are_ended_by_force_in_time(miniature: Miniature) -> None:
    running = miniature.up(FAKE_HOST="deaf", FAKE_WORKLOAD="deaf", FAKE_EMULATOR="deaf")
    pids = miniature.pids()
    begun = time.monotonic()
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=10)
    assert time.monotonic() - begun < BOUND_SECONDS
    assert [pid for pid in pids if is_alive(pid)] == []


def test_nothing_is_left_when_up_is_killed(miniature: Miniature) -> None:
    running = miniature.up()
    pids = miniature.pids()
    running.kill()
    assert eventually(lambda: not any(is_alive(pid) for pid in pids), seconds=BOUND_SECONDS)
    assert eventually(lambda: not miniature.note.exists(), seconds=BOUND_SECONDS)


def test_a_stop_during_the_start_leaves_nothing(miniature: Miniature) -> None:
    running = miniature.start("up", "--port", "0", FAKE_HOST="silent")
    assert eventually((miniature.root / ".local/logs/host.log").exists, seconds=30)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=10)
    assert running.returncode == 0
    assert not miniature.note.exists()


@pytest.mark.parametrize("name", ["workload", "host", "emulator"])
def test_a_child_that_crashes_is_named_in_one_sentence_and_ends_the_rest(miniature: Miniature, name: str) -> None:
    running = miniature.start("up", "--port", "0", **{f"FAKE_{name.upper()}": "crash"})
    _, complaints = running.communicate(timeout=30)
    assert running.returncode == 1
    assert complaints.startswith(f"The {name} ended with exit code 7; its last lines")
    assert f"the last words of the {name}" in complaints
    assert "Traceback" not in complaints
    assert not miniature.note.exists()


def test_a_workload_that_is_done_does_not_end_the_rest(miniature: Miniature) -> None:
    running = miniature.up(FAKE_WORKLOAD="finish")
    workload = miniature.read_note()["pids"]["workload"]
    assert eventually(lambda: not is_alive(workload), seconds=5)
    time.sleep(0.5)
    assert running.poll() is None


def test_a_child_killed_later_ends_the_rest(miniature: Miniature) -> None:
    running = miniature.up()
    pids = miniature.pids()
    subprocess.run(["kill", "-9", str(miniature.read_note()["pids"]["emulator"])], check=True)
    _, complaints = running.communicate(timeout=10)
    assert running.returncode == 1
    assert "The emulator was ended by signal 9" in complaints
    assert [pid for pid in pids if is_alive(pid)] == []


def test_a_taken_port_is_said_plainly(miniature: Miniature) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        running = miniature.start("up", "--port", str(port))
        _, complaints = running.communicate(timeout=10)
    assert running.returncode == 1
    assert complaints.startswith(f"Port {port} cannot be used")
    assert len(complaints.splitlines()) == 1


def test_a_second_up_in_the_same_checkout_is_refused(miniature: Miniature) -> None:
    first = miniature.up()
    second = miniature.start("up", "--port", "0")
    _, complaints = second.communicate(timeout=10)
    assert second.returncode == 1
    assert complaints.startswith("Another `dev.py up` is running in this checkout")
    assert miniature.note.exists()
    assert first.poll() is None


def test_real_accounts_are_watched_without_emulator_or_keys(miniature: Miniature) -> None:
    account = "https://contoso.westeurope.batch.azure.com"
    miniature.up("--account", account, BATCH_ACCOUNT_KEYS="left=over", FAKE_WORKLOAD="crash")
    note = miniature.read_note()
    assert note["emulator"] is note["batchKey"] is note["pids"]["workload"] is None
    settings = (miniature.root / ".local/logs/host.log").read_text()
    assert f"'BATCH_ACCOUNTS': '{account}'" in settings
    assert "BATCH_ACCOUNT_KEYS" not in settings
    assert "'TICK_SCHEDULE': '*/10 * * * * *'" in settings


def test_up_keeps_data_in_the_named_folder(miniature: Miniature) -> None:
    kept = miniature.root / "kept"
    running = miniature.up("--data", str(kept))
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=10)
    assert list((kept / "azurite").glob("*.json"))
    called = (miniature.root / ".local/logs/emulator.log").read_text()
    assert f"'--data', '{kept / 'emulator'}'" in called
    assert all(f"'{option}', 'DefaultEndpointsProtocol=" in called for option in ("--logs", "--telemetry"))
