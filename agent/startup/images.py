"""Startup records of the container images on the node, from Docker's socket where it can be read."""

from __future__ import annotations

from collections.abc import Iterable

from agent.machine.docker_socket import DockerError, DockerSocket
from agent.machine.machine import Machine
from agent.records.record import Record
from agent.startup.once import fact, once

MAX_IMAGES = 50
_UNTAGGED = "<none>:<none>"


def image_records(machine: Machine) -> Iterable[Record]:
    """Yields `batchscope_container_image` for each tagged image: name, digest, size in bytes, creation in seconds.

    Nothing where there is no Docker, or its answer makes no sense.
    """
    for image in [image for image in _images(DockerSocket(machine)) if isinstance(image, dict)][:MAX_IMAGES]:
        fields = {
            "name": _name(image.get("RepoTags")),
            "id": fact(image.get("Id")),
            "size": _whole(image.get("Size")),
            "created": _whole(image.get("Created")),
        }
        if fields["name"]:
            yield once("batchscope_container_image", fields)


def _images(docker: DockerSocket) -> list[object]:
    try:
        found = docker.answer("/images/json")
    except DockerError:
        return []
    return found if isinstance(found, list) else []


def _name(tags: object) -> str | None:
    """Returns the first name with a tag."""
    named = [tag for tag in tags if tag != _UNTAGGED] if isinstance(tags, list) else []
    return fact(named[0]) if named else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
