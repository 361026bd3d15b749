"""What a pool, or the specification of a job's own pool, may say."""

from local.batch_emulator import bodies
from local.batch_emulator.errors import absent_property, bad_property
from local.batch_emulator.pool_life import TARGETS
from local.batch_emulator.requests import nested

MOST_NODES = 2500
_LEAST_RESIZE_SECONDS = 300
_LONGEST_USER = 20


def check_pool_values(body: bodies.Body) -> None:
    """Raises RefusedError for a value that a pool can't have."""
    if "vmSize" in body and not isinstance(body["vmSize"], str):
        raise bad_property("vmSize", body["vmSize"], "It is a string.")
    for name in TARGETS.values():
        bodies.number(body, name, 0, most=MOST_NODES)
    bodies.duration(body, "resizeTimeout", least=_LEAST_RESIZE_SECONDS)
    bodies.slots(body, "taskSlotsPerNode")
    for account in bodies.objects(body, "userAccounts"):
        if len(str(account["name"])) > _LONGEST_USER:
            raise bad_property("userAccounts.name", account["name"], f"It has at most {_LONGEST_USER} characters.")
    policy = nested(body, "taskSchedulingPolicy")
    bodies.choice(policy, "nodeFillType", "spread", ("spread", "pack"))
    for extension in bodies.objects(nested(body, "virtualMachineConfiguration"), "extensions"):
        for name in ("name", "publisher", "type"):
            if not isinstance(extension.get(name), str) or not extension[name]:
                raise absent_property(f"extensions.{name}")
    start_task = nested(body, "startTask")
    if start_task and not isinstance(start_task.get("commandLine"), str):
        raise absent_property("startTask.commandLine")
    bodies.check_sizes(start_task)
    bodies.number(start_task, "maxTaskRetryCount", 0, least=-1)


def check_without_entra(body: bodies.Body) -> None:
    """Raises RefusedError for what takes Microsoft Entra authentication: own networks and own images (documented)."""
    subnet = nested(body, "networkConfiguration").get("subnetId")
    image = nested(nested(body, "virtualMachineConfiguration"), "imageReference").get("virtualMachineImageId")
    for name, value in (("subnetId", subnet), ("virtualMachineImageId", image)):
        if value:
            raise bad_property(name, value, "It can't be used with shared key authentication.")
