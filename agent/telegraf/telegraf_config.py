"""Telegraf's configurations for a node: inputs, intervals, and the output to our uploader.

Options are those of Telegraf 1.33 and newer. The files hold no secrets: Telegraf hands its own environment, with the
address of the storage, to the uploader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agent.telegraf.hardware import Hardware
from agent.telegraf.toml_text import TomlValue, section

ONCE_TAGS = {"vm_monitor_collection": "once"}
"""Marks the records of the one-time configuration as the beginning of a session."""
MAX_PROCESSORS = 32
"""Processors that are measured one by one; on greater nodes only their total is."""
_FAST, _SLOW, _RARE = "5s", "60s", "120s"
_IGNORED_FS = ("tmpfs", "devtmpfs", "devfs", "iso9660", "overlay", "aufs", "squashfs")
_VMSTAT = ("oom_kill", "pgmajfault", "pswpin", "pswpout")
_PROCESS = (
    "cpu_usage", "cpu_time_user", "cpu_time_system", "memory_rss", "memory_vms", "num_threads", "num_fds",
    "voluntary_context_switches", "involuntary_context_switches", "read_bytes", "write_bytes", "major_faults",
)  # fmt: skip


class Input(NamedTuple):
    """An input plugin: its options, its interval, and a comment for people."""

    plugin: str
    interval: str
    options: Mapping[str, TomlValue]
    comment: str


def continuous_config(hardware: Hardware, tags: Mapping[str, str], append: Sequence[str]) -> str:
    """Returns the configuration of the Telegraf that runs as long as the node.

    `tags` are added to all records. `append` is the uploader's command line, one part a word. Raises ValueError.
    """
    about = "Telegraf for a node of Azure Batch, for as long as it runs: telegraf --config FILE"
    agent: dict[str, TomlValue] = {
        "interval": "10s",
        "round_interval": True,
        "flush_interval": "10s",
        "metric_batch_size": 1000,
        "metric_buffer_limit": 20000,
    }
    inputs = [*_standard(hardware), *_optional(hardware), _processes()]
    return _config(about, tags, agent, append, [_input(one) for one in inputs])


def once_config(hardware: Hardware, tags: Mapping[str, str], append: Sequence[str]) -> str:
    """Returns the configuration of the Telegraf that runs once, before the other one, and flushes at once."""
    about = "Telegraf for a node of Azure Batch, once at its start: telegraf --once --config FILE"
    inputs = [one._replace(interval="") for one in (*_standard(hardware), *_optional(hardware))]
    return _config(about, {**tags, **ONCE_TAGS}, {}, append, [_input(one) for one in inputs])


def _config(
    about: str, tags: Mapping[str, str], agent: Mapping[str, TomlValue], append: Sequence[str], inputs: Iterable[str]
) -> str:
    written = "Written by the agent of Batchscope for this node's hardware. Telegraf 1.33 or newer reads it."
    return "\n".join([
        f"# {about}\n# {written}\n",
        section("[global_tags]", tags, "Whose the records are."),
        section("[agent]", agent, "Records pass to the uploader soon; it collects them to larger blocks."),
        _output(append),
        *inputs,
    ])  # fmt: skip


def _output(append: Sequence[str]) -> str:
    comment = (
        "The uploader reads line protocol on its standard input and appends it to a blob.\n"
        "It takes the storage's address from the variable BATCHSCOPE_STORAGE of Telegraf's environment."
    )
    options = {"command": append, "restart_delay": "10s", "data_format": "influx"}
    return section("[[outputs.execd]]", options, comment)


def _input(one: Input) -> str:
    interval = {"interval": one.interval} if one.interval else {}
    return section(f"[[inputs.{one.plugin}]]", {**interval, **one.options}, one.comment)


def _standard(hardware: Hardware) -> Iterable[Input]:
    """Yields the inputs that every node has."""
    few = 0 < hardware.processors <= MAX_PROCESSORS
    cpus = "One record for each processor and one for all." if few else "One record for all processors together."
    yield Input("cpu", _FAST, {"percpu": few, "totalcpu": True}, cpus)
    yield Input("mem", _FAST, {}, "Memory.")
    yield Input("diskio", _FAST, {}, "Traffic and operations of disks.")
    yield Input("net", _FAST, {"ignore_protocol_stats": True}, "Traffic of network interfaces.")
    yield Input("disk", _SLOW, {"ignore_fs": _IGNORED_FS}, "Space of file systems.")
    yield Input("swap", _SLOW, {}, "Swap space.")
    yield Input("system", _SLOW, {}, "Load and uptime.")
    yield Input("processes", _SLOW, {}, "Numbers of processes in each state.")
    collect = {"collect": ("psi",)} if hardware.pressure else {}
    pressure = "processes started, and pressure stalls." if hardware.pressure else "processes started."
    yield Input("kernel", _SLOW, collect, f"The kernel's counters: {pressure}")
    yield Input("kernel_vmstat", _SLOW, {"fieldinclude": _VMSTAT}, "Processes killed for lack of memory, and paging.")


def _optional(hardware: Hardware) -> Iterable[Input]:
    """Yields the inputs for this node's hardware."""
    if hardware.nvidia_smi:
        yield Input("nvidia_smi", "15s", {"bin_path": hardware.nvidia_smi, "timeout": "10s"}, "NVIDIA's GPUs.")
    if hardware.rocm_smi:
        yield Input("amd_rocm_smi", "15s", {"bin_path": hardware.rocm_smi, "timeout": "10s"}, "AMD's GPUs.")
    if hardware.infiniband:
        yield Input("infiniband", "15s", {}, "InfiniBand; data are in words of four bytes.")
    if hardware.smartctl:
        yield Input("smartctl", _RARE, {"path": hardware.smartctl}, "Health of NVMe disks; smartctl needs root.")
    if hardware.docker_socket:
        endpoint = f"unix://{hardware.docker_socket}"
        options: dict[str, TomlValue] = {"endpoint": endpoint, "docker_label_exclude": ("*",)}
        yield Input("docker", _SLOW, options, "Containers, without their labels.")


def _processes() -> Input:
    options: dict[str, TomlValue] = {
        "pattern": ".",
        "pid_finder": "native",
        "tag_with": ("pid",),
        "fieldinclude": _PROCESS,
    }
    comment = "Every process, by name and number, without its command line. Delete this for fewer records."
    return Input("procstat", _RARE, options, comment)
