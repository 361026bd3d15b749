"""An agent's startup records about its node: environment, metadata, processor, disks, and its own configuration.

Real environments contain secrets, so these do as well: generated from the seed in realistic formats. So readers of the
blobs can prove that they store none.
"""

import base64
import hashlib
from collections.abc import Iterator

from local.batch_emulator.core.stamps import full_stamp
from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import Origin
from local.batch_emulator.telemetry.samplers import NodeSample

ONCE = {"vm_monitor_collection": "once"}
_CPU = "Intel(R) Xeon(R) Platinum 8473C"
_CONFIGURATION = (
    '[agent]\n  interval = "5s"\n  flush_interval = "20s"\n[[inputs.cpu]]\n[[inputs.mem]]\n[[inputs.diskio]]\n'
)


def once_batch(account: str, sample: NodeSample, seed: str, path: str) -> list[Json]:
    """Returns the records; `path` is the folder of their blob."""
    time, origin = sample.time // 10_000, sample.origin
    found = [*_environment(account, origin, seed, path), *_metadata(account, origin), *_hardware(sample)]
    return [
        {"fields": fields, "name": name, "tags": {**tags, **ONCE}, "timestamp": time} for name, tags, fields in found
    ]


def secrets_of(node: str, seed: str) -> dict[str, str]:
    """Returns the secret variables of a node's environment."""

    def made(name: str) -> str:
        digest = hashlib.sha512(f"{seed}/{node}/{name}".encode()).digest()
        return base64.b64encode(digest).decode()

    signature = made("sas")[:43].replace("+", "%2B").replace("/", "%2F")
    address = f"https://emulated.blob.core.windows.net/inputs?sv=2024-11-04&sp=rl&sig={signature}%3D"
    connection = f"DefaultEndpointsProtocol=https;AccountName=emulated;AccountKey={made('storage')}"
    return {
        "AZ_BATCH_AUTHENTICATION_TOKEN": made("token"),
        "AZURE_CLIENT_SECRET": made("client")[:40],
        "DATABASE_PASSWORD": made("database")[:24],
        "INPUT_CONTAINER": address,
        "AZURE_STORAGE_CONNECTION_STRING": connection,
    }


def _environment(account: str, origin: Origin, seed: str, path: str) -> Iterator[tuple[str, Json, Json]]:
    variables = {
        "AZ_BATCH_ACCOUNT_NAME": account,
        "AZ_BATCH_POOL_ID": origin.pool,
        "AZ_BATCH_NODE_ID": origin.node,
        "AZ_BATCH_NODE_IS_DEDICATED": str(not origin.is_spot).lower(),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        **secrets_of(origin.node, seed),
    }
    for name, value in variables.items():
        yield "exec.env", {}, {"key": name, "value": value}
    yield "task_env", {"tag": "PERF_APPEND_BLOB_PATH"}, {"value": f"{path}/"}
    yield "telegraf_config_once", {}, {"value": _CONFIGURATION}


def _metadata(account: str, origin: Origin) -> Iterator[tuple[str, Json, Json]]:
    yield "imds_metadata", {}, {
        "batch_account_name": account,
        "batch_pool_name": origin.pool,
        "imds_interface_0_ipv4_ipAddress_0_privateIpAddress": origin.address,
        "parser_result": "true",
        "vm_image_offer": "ubuntu-hpc",
        "vm_image_sku": "2204",
        "vm_location": "westeurope",
        "vm_priority": "Spot" if origin.is_spot else "Regular",
        "vm_size": origin.machine.size,
        "zone": "",
    }  # fmt: skip
    yield "batch_agent_data", {}, {
        "batch_allocation_time": _nanoseconds(origin.allocated),
        "batch_boot_time": _nanoseconds(origin.booted),
        "batch_log_found": "true",
        "batch_pool_name": origin.pool,
        "batch_vm_name": origin.node,
    }  # fmt: skip


def _hardware(sample: NodeSample) -> Iterator[tuple[str, Json, Json]]:
    origin, cores = sample.origin, sample.origin.machine.cores
    boot = {"collection_iso_timestamp": _nanoseconds(sample.time), "iso_boot_timestamp": _nanoseconds(origin.booted)}
    yield "linux_boot", {}, boot
    yield (
        "vm_lscpu_metadata",
        {},
        {"Architecture": "x86_64", "CPUs": cores, "Thread(s)_per_core": 2, "parser_result": "true"},
    )
    yield "vm_cpuinfo_metadata", {"cpu": f'"0_{cores - 1}"'}, {"model_name": _CPU, "vendor_id": "GenuineIntel"}
    for name, size in (("sda", 32_213_303_296), ("sdb", 161_061_273_600)):
        yield (
            "exec.lsblk",
            {},
            {"model": "Virtual Disk", "name": name, "size": size, "state": "running", "type": "disk"},
        )


def _nanoseconds(moment: int) -> str:
    """Returns a stamp with nine digits of a second; the last two are always 0."""
    return f"{full_stamp(moment)[:-1]}00Z"
