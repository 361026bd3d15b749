"""Startup records of the container images on the node, from Docker's socket where it can be read."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterable

from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_IMAGES = 50
MAX_BODY = 4 << 20
_TIMEOUT = 2.0  # seconds
_SOCKETS = ("/run/docker.sock", "/var/run/docker.sock")
_UNTAGGED = "<none>:<none>"


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket of the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT)
        self._path = path

    def connect(self) -> None:
        """Connects to the socket. Raises OSError."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_TIMEOUT)
        self.sock.connect(self._path)


def image_records(machine: Machine) -> Iterable[Record]:
    """Yields `batchscope_container_image` for each tagged image: name, digest, size in bytes, creation in seconds.

    Nothing where there is no Docker, or its answer makes no sense.
    """
    path = next(filter(machine.exists, _SOCKETS), None)
    images = _images(machine.path(path)) if path else []
    for image in [image for image in images if isinstance(image, dict)][:MAX_IMAGES]:
        fields = {
            "name": _name(image.get("RepoTags")),
            "id": fact(image.get("Id")),
            "size": _whole(image.get("Size")),
            "created": _whole(image.get("Created")),
        }
        if fields["name"]:
            yield once("batchscope_container_image", fields)


def _images(path: str) -> list[object]:
    connection = _SocketConnection(path)
    try:
        connection.request("GET", "/images/json")
        response = connection.getresponse()
        found = json.loads(response.read(MAX_BODY)) if response.status == http.client.OK else []
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return []
    finally:
        connection.close()
    return found if isinstance(found, list) else []


def _name(tags: object) -> str | None:
    """Returns the first name with a tag."""
    named = [tag for tag in tags if tag != _UNTAGGED] if isinstance(tags, list) else []
    return fact(named[0]) if named else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
