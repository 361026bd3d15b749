"""Pools whose nodes have a price: of a size and an image that the emulator's price list has."""

from azure.batch import models

from tests.functions.conftest import World


async def add_priced_pool(
    world: World,
    name: str,
    *,
    nodes: int,
    spot: int = 0,
    slots: int = 1,
    start: str = "",
    size: str = "standard_d4as_v5",
) -> None:
    """Creates a pool of Linux nodes; `start` is its start task's command line; another `size` may have no price."""
    image = models.BatchVmImageReference(publisher="canonical", offer="jammy", sku="22_04-lts")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 22.04")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id=name,
            vm_size=size,
            virtual_machine_configuration=machine,
            target_dedicated_nodes=nodes,
            target_low_priority_nodes=spot,
            task_slots_per_node=slots,
            start_task=models.BatchStartTask(command_line=start) if start else None,
        )
    )
