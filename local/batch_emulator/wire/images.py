"""Marketplace images of the emulated account, most of them with an end of support, so that clients can warn of it."""

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


_CAPABILITIES = {"g2": "Generation2VMImage", "docker": "DockerCompatible", "rdma": "SupportsRDMAOnly"}


def _image(row: str) -> Image:
    publisher, offer, sku, agent, verified, day, *names = row.split("|")
    name, end_of_life = f"{publisher}:{offer}:{sku}", f"{day}T00:00:00Z" if day else ""
    os_type = "windows" if "windows" in agent else "linux"
    capabilities = tuple(_CAPABILITIES[name] for name in names)
    verification = {"v": "verified", "u": "unverified"}[verified]
    return Image(name, publisher, offer, sku, agent, os_type, verification, end_of_life, capabilities)


_ROWS = """
almalinux|almalinux-x86_64|8-gen2|batch.node.el 8|u|2028-03-01|g2
almalinux|almalinux-x86_64|9-gen2|batch.node.el 9|u||g2
canonical|0001-com-ubuntu-server-focal|20_04-lts|batch.node.ubuntu 20.04|v|2025-04-23
canonical|0001-com-ubuntu-server-focal|20_04-lts-gen2|batch.node.ubuntu 20.04|v|2025-04-23|g2
canonical|0001-com-ubuntu-server-jammy|22_04-lts|batch.node.ubuntu 22.04|v|2027-06-01
canonical|0001-com-ubuntu-server-jammy|22_04-lts-gen2|batch.node.ubuntu 22.04|v|2027-06-01|g2
canonical|ubuntu-24_04-lts|server|batch.node.ubuntu 24.04|v||g2
debian|debian-11|11|batch.node.debian 11|u|2026-12-10
debian|debian-11|11-gen2|batch.node.debian 11|u|2026-12-10|g2
debian|debian-12|12-gen2|batch.node.debian 12|u|2028-06-30|g2
microsoft-azure-batch|ubuntu-server-container|20-04-lts|batch.node.ubuntu 20.04|v|2025-04-23|docker
microsoft-azure-batch|ubuntu-server-container-rdma|20-04-lts|batch.node.ubuntu 20.04|v|2025-04-23|docker|rdma
microsoft-dsvm|dsvm-win-2019|winserver-2019|batch.node.windows amd64|u|2027-01-20
microsoft-dsvm|dsvm-win-2022|winserver-2022|batch.node.windows amd64|u|2027-03-31
microsoft-dsvm|ubuntu-hpc|2004|batch.node.ubuntu 20.04|u|2025-04-23|docker|rdma
microsoft-dsvm|ubuntu-hpc|2204|batch.node.ubuntu 22.04|v|2027-06-30|docker|rdma
microsoftwindowsserver|windowsserver|2012-r2-datacenter|batch.node.windows amd64|v|2024-12-05
microsoftwindowsserver|windowsserver|2016-datacenter|batch.node.windows amd64|v|2027-01-12
microsoftwindowsserver|windowsserver|2016-datacenter-gensecond|batch.node.windows amd64|v|2027-01-12|g2
microsoftwindowsserver|windowsserver|2016-datacenter-with-containers|batch.node.windows amd64|v|2022-09-30|docker
microsoftwindowsserver|windowsserver|2019-datacenter|batch.node.windows amd64|v|2029-01-09
microsoftwindowsserver|windowsserver|2019-datacenter-with-containers|batch.node.windows amd64|v|2022-09-30|docker
microsoftwindowsserver|windowsserver|2022-datacenter|batch.node.windows amd64|v|2031-10-14
microsoftwindowsserver|windowsserver|2022-datacenter-g2|batch.node.windows amd64|v|2031-10-14|g2
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
