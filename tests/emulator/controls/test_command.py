"""`python -m local.batch_emulator`, as started by a person or a script."""

import json
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import jwt
import pytest

from local.batch_emulator.protocol.auth import DEVELOPMENT_TOKEN


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "local.batch_emulator", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_ends_promptly(number: signal.Signals) -> None:
    emulator = _start("--port", "0", "--stepped", "--start", "2026-01-05T08:00:00Z", "--account", "a", "--account", "b")
    assert emulator.stdout
    line = emulator.stdout.readline()
    assert line.startswith("listening on http://127.0.0.1:")
    url = line.removeprefix("listening on ").strip()
    connection = HTTPConnection(url.removeprefix("http://"), timeout=5)
    connection.request("GET", "/_emulator/truth")
    assert json.loads(connection.getresponse().read())["accounts"].keys() == {"a", "b"}
    began = time.monotonic()
    emulator.send_signal(number)
    _, errors = emulator.communicate(timeout=5)
    assert (emulator.returncode, errors) == (0, "")
    assert time.monotonic() - began < 2


def test_it_takes_tokens_by_a_key_and_an_issuer(tmp_path: Path) -> None:
    path, secret, issuer = tmp_path / "secret", "s" * 40, "https://issuer.test/"
    path.write_text(secret)
    emulator = _start("--port", "0", "--jwt-key", str(path), "--jwt-issuer", issuer)
    assert emulator.stdout
    connection = HTTPConnection(emulator.stdout.readline().split("http://")[1].strip(), timeout=5)
    claims = {"aud": "https://batch.core.windows.net/", "nbf": 0, "exp": 2**31}
    answers = []
    for each in (issuer, "https://another.test/"):
        token = jwt.encode({**claims, "iss": each}, secret, "HS256")
        connection.request("GET", "/jobs?api-version=2025-06-01", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        answers.append(answer.status)
    emulator.terminate()
    emulator.communicate(timeout=5)
    assert answers == [200, 401]


def test_a_taken_port_is_one_plain_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        emulator = _start("--port", str(port))
        _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 1
    assert errors.count("\n") == 1
    assert f"can't listen on 127.0.0.1:{port}" in errors


def test_a_place_without_a_certificate_is_one_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    emulator = _start("--port", "0", "--https", str(tmp_path / "file"))
    _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 1
    assert errors == f"There is no certificate in {tmp_path / 'file'}: File exists.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "x"],
        ["--port", "0", "--speed", "0"],
        ["--port", "0", "--telemetry-interval", "0.5"],
        ["--port", "0", "--account", "a=???"],
        ["--https"],
        ["--jwt-key", "nowhere.pem"],
        ["--jwt-issuer", "https://issuer.test/"],
        ["--start", "2026-01-05T08:00:00Z"],
        ["--account", "a", "--account", "A"],
        ["--token", ""],
        ["--data", ""],
    ],
)
def test_wrong_arguments_are_named(arguments: list[str]) -> None:
    emulator = _start(*arguments)
    _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 2
    assert "error: " in errors


def _get(emulator: subprocess.Popen[str], path: str, method: str = "GET", body: str | None = None) -> Any:
    assert emulator.stdout
    connection = HTTPConnection(emulator.stdout.readline().removeprefix("listening on http://").strip(), timeout=5)
    headers = {"Authorization": f"Bearer {DEVELOPMENT_TOKEN}"}
    connection.request(method, f"{path}?api-version=2025-06-01", body, headers)
    return json.loads(connection.getresponse().read() or "{}")


def test_a_terminated_emulator_keeps_everything(tmp_path: Path) -> None:
    first = _start("--port", "0", "--data", str(tmp_path))
    assert not _get(first, "/jobs", "POST", '{"id": "job", "poolInfo": {"poolId": "none"}}')
    first.terminate()
    assert (first.communicate(timeout=5)[1], first.returncode) == ("", 0)
    second = _start("--port", "0", "--data", str(tmp_path))
    assert [row["id"] for row in _get(second, "/jobs")["value"]] == ["job"]
    third = _start("--port", "0", "--data", str(tmp_path))
    _, errors = third.communicate(timeout=10)
    assert third.returncode == 1
    assert errors == f"Another emulator keeps its accounts in {tmp_path}; stop it first.\n"
    second.terminate()
    assert second.wait(5) == 0


def test_kept_data_and_virtual_time_exclude_each_other(tmp_path: Path) -> None:
    emulator = _start("--port", "0", "--stepped", "--data", str(tmp_path))
    _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 2
    assert "--data goes with real time only" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="the shell's limit on files is not there")
def test_an_emulator_that_can_keep_no_more_ends_with_one_sentence(tmp_path: Path) -> None:
    command = f"ulimit -f 200; exec {sys.executable} -m local.batch_emulator --port 0 --data {tmp_path}"
    emulator = subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job = {"id": "job", "poolInfo": {"poolId": "none"}, "metadata": [{"name": "a", "value": "b" * 300_000}]}
    _get(emulator, "/jobs", "POST", json.dumps(job))
    _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 1
    assert errors.startswith(f"Accounts can't be kept in {tmp_path}: ")
    assert errors.count("\n") == 1
