"""`python -m local.batch_emulator` as a person or a script starts it."""

import json
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import jwt
import pytest


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "x"],
        ["--port", "0", "--speed", "0"],
        ["--port", "0", "--account", "a=???"],
        ["--https"],
        ["--jwt-key", "nowhere.pem"],
    ],
)
def test_wrong_arguments_are_named(arguments: list[str]) -> None:
    emulator = _start(*arguments)
    _, errors = emulator.communicate(timeout=10)
    assert emulator.returncode == 2
    assert "error: " in errors
