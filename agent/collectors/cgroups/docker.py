"""Names and images of containers, from the Docker daemon's socket where the agent may read it."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

SOCKET = "/var/run/docker.sock"
MAX_ANSWER = 4 << 20
TIMEOUT = 2.0
MAX_WAIT = 10
"""Calls for which the daemon isn't asked again after a failure."""
_OK = 200
_SHORT = 12  # characters of an id that Docker shows
_MAX_NAME = 256


class ContainerName(NamedTuple):
    """A container's name and its image without and with its tag; the image is empty where it isn't known."""

    name: str
    image: str = ""
    version: str = ""

    def tags(self) -> dict[str, str]:
        """Returns the tags of Telegraf's docker plugin."""
        return {"container_name": self.name, "container_image": self.image, "container_version": self.version}


class DockerSocket:
    """Asks the daemon behind a socket, for at most TIMEOUT seconds an answer."""

    def __init__(self, path: str, timeout: float = TIMEOUT) -> None:
        self._path = path
        self._timeout = timeout

    def containers(self) -> dict[str, ContainerName]:
        """Returns the names of running containers by id. Raises OSError, HTTPException and ValueError."""
        connection = _Connection(self._path, self._timeout)
        try:
            connection.request("GET", "/containers/json")
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER)
        finally:
            connection.close()
        if answer.status != _OK:
            raise ValueError(f"Docker answered {answer.status}.")
        return names_of(json.loads(content))


class ContainerNames:
    """Remembers the names of containers, and asks for them only when a new one has come."""

    def __init__(self, ask: Callable[[], Mapping[str, ContainerName]]) -> None:
        self._ask = ask
        self._names: dict[str, ContainerName] = {}
        self._wait = 0

    def names(self, ids: Collection[str]) -> Mapping[str, ContainerName]:
        """Returns a name for each id: the id's beginning where Docker knows or says none."""
        self._wait = max(self._wait - 1, 0)
        found = {each: self._names[each] for each in ids if each in self._names}
        if len(found) < len(ids) and not self._wait:
            found.update({each: name for each, name in self._asked().items() if each in ids})
        self._names = found
        return {each: found.get(each, ContainerName(each[:_SHORT])) for each in ids}

    def _asked(self) -> Mapping[str, ContainerName]:
        try:
            return self._ask()
        except (OSError, ValueError, http.client.HTTPException):
            self._wait = MAX_WAIT
            return {}


def names_of(answer: Any) -> dict[str, ContainerName]:
    """Returns the containers that an answer of the daemon lists, without those that make no sense."""
    listed = [each for each in answer if isinstance(each, dict)] if isinstance(answer, list) else []
    return {str(each["Id"]): _name_of(each) for each in listed if each.get("Id") and _first(each.get("Names"))}


def _name_of(listed: Mapping[str, Any]) -> ContainerName:
    image = str(listed.get("Image", ""))[:_MAX_NAME].partition("@")[0]
    path, colon, version = image.rpartition(":")
    has_version = bool(colon) and "/" not in version  # registry:5000/image has a port
    return ContainerName(
        _first(listed["Names"]).lstrip("/"), path if has_version else image, version if has_version else ""
    )


def _first(names: Any) -> str:
    return str(names[0])[:_MAX_NAME] if isinstance(names, list) and names else ""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
