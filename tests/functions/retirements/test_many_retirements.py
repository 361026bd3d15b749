"""Pools of many sizes, images and networks, and which retirements concern each, in a table written by hand."""

from collections import defaultdict
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.wire.images import IMAGES as LISTED
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled, pools

pytestmark = pytest.mark.asyncio(loop_scope="session")
_OWN = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/own/images/i/versions/1.0.0"
_NOBLE, _UBUNTU_24 = "canonical/ubuntu-24_04-lts/server", "batch.node.ubuntu 24.04"
_SERVER, _WINDOWS = "microsoftwindowsserver/windowsserver", "batch.node.windows amd64"
_JAMMY, _FOCAL = "canonical/0001-com-ubuntu-server-jammy", "canonical/0001-com-ubuntu-server-focal"
_D, _LS, _NCV3 = "vm-sizes-d-to-dsv2", "vm-sizes-ls", "vm-sizes-ncv3"
_NO_PUBLIC = "nopublicipaddresses"

SIZES = """
standard_d2s_v5 -
standard_d2 vm-sizes-d-to-dsv2
standard_ds13 vm-sizes-d-to-dsv2
STANDARD_D2_V2 vm-sizes-d-to-dsv2
standard_ds14_v2 vm-sizes-d-to-dsv2
standard_ds13-4_v2 vm-sizes-d-to-dsv2
standard_d15i_v2 vm-sizes-d-to-dsv2
standard_ds15i_v2 vm-sizes-d-to-dsv2
standard_d11_v2_promo vm-sizes-d-to-dsv2
standard_d2_v3 vm-sizes-dv3-to-esv3
standard_d2s_v3 vm-sizes-dv3-to-esv3
standard_l8s vm-sizes-ls
standard_l8s_v3 -
standard_hb120rs_v2 vm-sizes-hbv2-hc
standard_hb120-32rs_v2 vm-sizes-hbv2-hc
standard_hb120rs_v3 -
standard_hc44rs vm-sizes-hbv2-hc
standard_hc44-16rs vm-sizes-hbv2-hc
standard_np10s vm-sizes-np
standard_nc6s_v3 vm-sizes-ncv3
standard_nc24rs_v3 vm-sizes-ncv3
standard_nc4as_t4_v3 -
standard_a4 vm-sizes-a
basic_a2 vm-sizes-a
standard_a4_v2 vm-sizes-av2
standard_f16s_v2 vm-sizes-f-to-fsv2
standard_nv12s_v3 vm-sizes-nvv3-nvv4
standard_e4s_v5 -
"""
"""VM sizes, each of a pool with an image that stays, and what of the retirements concerns the pool."""
IMAGES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("noble", _NOBLE, _UBUNTU_24, ()),
    ("jammy", f"{_JAMMY}/22_04-lts", "batch.node.ubuntu 22.04", ("ubuntu-22.04", f"image:{_JAMMY}/22_04-lts")),
    ("jammy-other", "canonical/jammy/22_04-lts", "batch.node.ubuntu 22.04", ("ubuntu-22.04",)),
    ("focal", f"{_FOCAL}/20_04-lts", "batch.node.ubuntu 20.04", ("ubuntu-20.04", f"image:{_FOCAL}/20_04-lts")),
    ("bionic", "canonical/ubuntuserver/18.04-lts", "batch.node.ubuntu 18.04", ("older-linux",)),
    ("centos", "openlogic/centos/7_9", "batch.node.centos 7", ("older-linux",)),
    ("debian-10", "debian/debian-10/10", "batch.node.debian 10", ("older-linux",)),
    ("debian-11", "debian/debian-11/11", "batch.node.debian 11", ("image:debian/debian-11/11",)),
    ("debian-12", "debian/debian-12/12-gen2", "batch.node.debian 12", ("image:debian/debian-12/12-gen2",)),
    ("alma-8", "almalinux/almalinux-x86_64/8-gen2", "batch.node.el 8", ("image:almalinux/almalinux-x86_64/8-gen2",)),
    ("alma-9", "almalinux/almalinux-x86_64/9-gen2", "batch.node.el 9", ()),
    ("hpc", "microsoft-dsvm/ubuntu-hpc/2204", "batch.node.ubuntu 22.04",
     ("ubuntu-22.04", "image:microsoft-dsvm/ubuntu-hpc/2204")),
    ("win-2012", f"{_SERVER}/2012-r2-datacenter", _WINDOWS,
     ("windows-server-2012", f"image:{_SERVER}/2012-r2-datacenter")),
    ("win-2016", f"{_SERVER}/2016-datacenter", _WINDOWS,
     ("windows-server-2016", f"image:{_SERVER}/2016-datacenter")),
    ("win-2022", f"{_SERVER}/2022-datacenter", _WINDOWS, (f"image:{_SERVER}/2022-datacenter",)),
    ("own-noble", _OWN, _UBUNTU_24, ()),
    ("own-jammy", _OWN, "batch.node.ubuntu 22.04", ("ubuntu-22.04", "nodeAgentSku:batch.node.ubuntu 22.04")),
    ("own-debian", _OWN, "batch.node.debian 11", ("nodeAgentSku:batch.node.debian 11",)),
    ("own-alma", _OWN, "batch.node.el 9", ()),
)  # fmt: skip
"""Pools with an image and a node agent, of a size that stays, and what of the retirements concerns them."""
NETWORKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("closed", _NO_PUBLIC, ("default-outbound-access",)),
    ("open", "batchmanaged", ()),
)
OWN = {_UBUNTU_24: "own-noble", "batch.node.ubuntu 22.04": "own-jammy", "batch.node.debian 11": "own-debian",
       "batch.node.el 9": "own-alma", _WINDOWS: "own-windows"}  # fmt: skip
"""Pools with an own image, made from an image of the marketplace that isn't known, by node agent."""
UNKNOWN = {"windows-server-2012": {"own-windows"}, "windows-server-2016": {"own-windows"}}


def expected() -> dict[str, set[str]]:
    sized = (line.split() for line in SIZES.strip().splitlines())
    return {
        **{f"size-{size.lower()}": set(ids.split(",")) - {"-"} for size, ids in sized},
        **{name: set(ids) for name, _, _, ids in IMAGES},
        **{name: set(ids) for name, _, ids in NETWORKS},
        "own-windows": {f"nodeAgentSku:{_WINDOWS}"},
    }


async def add(
    world: World, name: str, *, size: str = "standard_d2s_v5", image: str = _NOBLE, agent: str = _UBUNTU_24, **more: Any
) -> None:
    """Adds an empty pool; the service takes an own image only from callers with Entra ID, so that is set in place."""
    publisher, offer, sku = (_NOBLE if image == _OWN else image).split("/")
    reference = models.BatchVmImageReference(publisher=publisher, offer=offer, sku=sku)
    machine = models.VirtualMachineConfiguration(image_reference=reference, node_agent_sku_id=agent)
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id=name, vm_size=size, virtual_machine_configuration=machine, target_dedicated_nodes=0, **more
        )
    )
    if image == _OWN:
        spec = world.emulator.simulations["demo"].account.pools[name].spec
        spec["virtualMachineConfiguration"]["imageReference"] = {"virtualMachineImageId": _OWN}


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an account with all of these pools after a poll, and another one that knows the images."""
    await begin_anew(_running, poll_seconds=1)
    for line in SIZES.strip().splitlines():
        size = line.split()[0]
        await add(_running, f"size-{size.lower()}", size=size)
    for name, image, agent, _ in IMAGES:
        await add(_running, name, image=image, agent=agent)
    for name, provision, _ in NETWORKS:
        addresses = models.BatchPublicIpAddressConfiguration(ip_address_provisioning_type=provision)
        network = models.NetworkConfiguration(public_ip_address_configuration=addresses)
        await add(_running, name, network_configuration=network)
    await add(_running, "own-windows", image=_OWN, agent=_WINDOWS)
    await polled(_running)
    _running.advance(660)
    await polled(_running)
    return _running


async def test_each_of_many_pools_has_the_retirements_of_the_table_and_each_retirement_its_pools(world: World) -> None:
    wanted = expected()
    assert len(wanted) >= 40
    shown = await pools(world)
    assert {name: {one["id"] for one in pool["retirements"]} for name, pool in shown.items()} == wanted
    by_id = defaultdict[str, set[str]](set)
    for name, ids in wanted.items():
        for one in ids:
            by_id[one].add(name)
    listed = (await world.get("retirements?all=true")).body["value"]
    assert {one["id"]: {pool["id"] for pool in one["pools"]} for one in listed if one["pools"]} == by_id
    unknown = {one["id"]: {pool["id"] for pool in one["firstUnknownPools"]} for one in listed if one["unknownPools"]}
    agents = {name.replace(":", "/"): image.agent for name, image in LISTED.items()}
    images = {one["id"]: agents[one["id"].removeprefix("image:")] for one in listed if one["id"].startswith("image:")}
    assert len(images) == 22
    assert unknown == {**UNKNOWN, **{one: {OWN[agent]} for one, agent in images.items() if agent in OWN}}
