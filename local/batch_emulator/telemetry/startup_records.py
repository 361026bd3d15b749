"""An agent's startup records about its node: environment, metadata, processor, disks, and its own configuration.

Real environments contain secrets, so these do as well: generated from the seed in realistic formats. So readers of the
blobs can prove that they store none.
"""

import base64
import hashlib
from collections.abc import Iterator

from local.batch_emulator.core.stamps import full_stamp
from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import AgentSession
from local.batch_emulator.telemetry.samplers import NodeSample

ONCE_TAG = {"vm_monitor_collection": "once"}
_CPU = "Intel(R) Xeon(R) Platinum 8473C"
_CONFIGURATION = (
    '[agent]\n  interval = "5s"\n  flush_interval = "20s"\n[[inputs.cpu]]\n[[inputs.mem]]\n[[inputs.diskio]]\n'
)


def startup_records(account: str, sample: NodeSample, seed: str, path: str) -> list[Json]:
    """Returns the records; `path` is the folder of their blob."""
    time, session = sample.time // 10_000, sample.session
    found = [*_environment(account, session, seed, path), *_metadata(account, session), *_hardware(sample)]
    return [
        {"fields": fields, "name": name, "tags": {**tags, **ONCE_TAG}, "timestamp": time}
        for name, tags, fields in found
    ]


def secrets_of(node: str, seed: str) -> dict[str, str]:
    """Returns the secret variables of a node's environment."""

    def secret(name: str) -> str:
        digest = hashlib.sha512(f"{seed}/{node}/{name}".encode()).digest()
        return base64.b64encode(digest).decode()

    signature = secret("sas")[:43].replace("+", "%2B").replace("/", "%2F")
    address = f"https://emulated.blob.core.windows.net/inputs?sv=2024-11-04&sp=rl&sig={signature}%3D"
    connection = f"DefaultEndpointsProtocol=https;AccountName=emulated;AccountKey={secret('storage')}"
    return {
        "AZ_BATCH_AUTHENTICATION_TOKEN": secret("token"),
        "AZURE_CLIENT_SECRET": secret("client")[:40],
        "DATABASE_PASSWORD": secret("database")[:24],
        "INPUT_CONTAINER": address,
        "AZURE_STORAGE_CONNECTION_STRING": connection,
    }


def _environment(account: str, session: AgentSession, seed: str, path: str) -> Iterator[tuple[str, Json, Json]]:
    variables = {
        "AZ_BATCH_ACCOUNT_NAME": account,
        "AZ_BATCH_POOL_ID": session.pool,
        "AZ_BATCH_NODE_ID": session.node,
        "AZ_BATCH_NODE_IS_DEDICATED": str(not session.is_spot).lower(),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        **secrets_of(session.node, seed),
    }
    for name, value in variables.items():
        yield "exec.env", {}, {"key": name, "value": value}
    yield "task_env", {"tag": "PERF_APPEND_BLOB_PATH"}, {"value": f"{path}/"}
    yield "telegraf_config_once", {}, {"value": _CONFIGURATION}


def _metadata(account: str, session: AgentSession) -> Iterator[tuple[str, Json, Json]]:
    yield "imds_metadata", {}, {
        "batch_account_name": account,
        "batch_pool_name": session.pool,
        "imds_interface_0_ipv4_ipAddress_0_privateIpAddress": session.address,
        "parser_result": "true",
        "vm_image_offer": "ubuntu-hpc",
        "vm_image_sku": "2204",
        "vm_location": "westeurope",
        "vm_priority": "Spot" if session.is_spot else "Regular",
        "vm_size": session.hardware.size,
        "zone": "",
    }  # fmt: skip
    yield "batch_agent_data", {}, {
        "batch_allocation_time": _nanoseconds(session.allocated),
        "batch_boot_time": _nanoseconds(session.booted),
        "batch_log_found": "true",
        "batch_pool_name": session.pool,
        "batch_vm_name": session.node,
    }  # fmt: skip


def _hardware(sample: NodeSample) -> Iterator[tuple[str, Json, Json]]:
    session, cores = sample.session, sample.session.hardware.cores
    boot = {"collection_iso_timestamp": _nanoseconds(sample.time), "iso_boot_timestamp": _nanoseconds(session.booted)}
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
