"""Marketplace images of the emulated account: a few, so that clients have a choice."""

from collections.abc import Iterator
from dataclasses import dataclass

from local.batch_emulator.entities import Json
from local.batch_emulator.protocol.paging import Renderers


@dataclass(frozen=True, slots=True)
class Image:
    """An image; `id` is its position in the list, ordered by publisher, offer and sku."""

    id: str
    publisher: str
    offer: str
    sku: str
    agent: str
    os_type: str
    verification: str
    end_of_life: str
    capabilities: tuple[str, ...]


def _image(row: str) -> Image:
    publisher, offer, sku, agent, os_type, verification, end_of_life, *capabilities = row.split("|")
    name = f"{publisher}:{offer}:{sku}"
    return Image(name, publisher, offer, sku, agent, os_type, verification, end_of_life, tuple(capabilities))


_ROWS = """
almalinux|almalinux-x86_64|9-gen2|batch.node.el 9|linux|unverified||Generation2VMImage
canonical|0001-com-ubuntu-server-jammy|22_04-lts|batch.node.ubuntu 22.04|linux|verified|2027-06-01T00:00:00Z
canonical|ubuntu-24_04-lts|server|batch.node.ubuntu 24.04|linux|verified||Generation2VMImage
debian|debian-12|12-gen2|batch.node.debian 12|linux|unverified||Generation2VMImage
microsoft-dsvm|ubuntu-hpc|2204|batch.node.ubuntu 22.04|linux|verified||DockerCompatible|SupportsRDMAOnly
microsoftwindowsserver|windowsserver|2022-datacenter|batch.node.windows amd64|windows|verified|
microsoftwindowsserver|windowsserver|2022-datacenter-g2|batch.node.windows amd64|windows|verified||Generation2VMImage
"""
IMAGES = {image.id: image for image in map(_image, _ROWS.strip().splitlines())}


@dataclass(frozen=True, slots=True)
class NodeAgentSku:
    """A node agent, by name, with the verified images that it supports."""

    id: str
    os_type: str
    images: tuple[Image, ...]


def _node_agent_skus() -> Iterator[NodeAgentSku]:
    for name in dict.fromkeys(image.agent for image in IMAGES.values()):
        images = tuple(image for image in IMAGES.values() if image.agent == name)
        yield NodeAgentSku(
            name, images[0].os_type, tuple(image for image in images if image.verification == "verified")
        )


AGENTS = {agent.id: agent for agent in _node_agent_skus()}


def agent_renderers() -> Renderers:
    return {
        "id": lambda agent: agent.id,
        "verifiedImageReferences": lambda agent: [_reference(image) for image in agent.images],
        "osType": lambda agent: agent.os_type,
    }


def _reference(image: Image) -> Json:
    return {"publisher": image.publisher, "offer": image.offer, "sku": image.sku, "version": "latest"}


def image_renderers() -> Renderers:
    return {
        "imageReference": _reference,
        "verificationType": lambda image: image.verification,
        "nodeAgentSKUId": lambda image: image.agent,
        "capabilities": lambda image: list(image.capabilities) or None,
        "batchSupportEndOfLife": lambda image: image.end_of_life or None,
        "osType": lambda image: image.os_type,
    }
