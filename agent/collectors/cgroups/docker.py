"""Names and images of containers, from the Docker daemon's socket where the agent may read it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from agent.machine.docker_socket import DockerError, DockerSocket

MAX_WAIT = 10
"""Calls for which the daemon isn't asked again after a failure."""
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


def running_containers(docker: DockerSocket) -> dict[str, ContainerName]:
    """Returns the names of running containers by id. Raises DockerError."""
    return names_of(docker.answer("/containers/json"))


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
        except DockerError:
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
