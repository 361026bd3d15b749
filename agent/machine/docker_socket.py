"""Client of the Docker daemon, behind a socket of the file system that only some users may open."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

from agent.machine.machine import Machine

SOCKETS = ("/var/run/docker.sock", "/run/docker.sock")
MAX_ANSWER = 4 << 20
TIMEOUT = 2.0
"""Seconds of each wait for the daemon."""


class DockerError(Exception):
    """The daemon can't be asked, or its answer makes no sense."""


class DockerSocket:
    """Asks the daemon of a machine, whose socket may come later."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __bool__(self) -> bool:
        return bool(self._path())

    def answer(self, request: str) -> Any:
        """Returns the JSON that the daemon answers to a request such as `/images/json`. Raises DockerError."""
        path = self._path()
        if not path:
            raise DockerError("The node has no socket of Docker.")
        connection = _Connection(path)
        try:
            connection.request("GET", request)
            response = connection.getresponse()
            if response.status != http.client.OK:
                raise DockerError(f"Docker answered {response.status}.")
            return json.loads(response.read(MAX_ANSWER))
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            raise DockerError(f"Docker can't be asked: {type(error).__name__}.") from error
        finally:
            connection.close()

    def _path(self) -> str:
        return next((self._machine.path(path) for path in SOCKETS if self._machine.exists(path)), "")


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
