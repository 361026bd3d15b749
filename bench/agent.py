"""Measures the node agent: its cost on a large node, and beside collectd on this machine.

The large node is a tree of files (96 cores, 500 processes of which 400 belong to 16 tasks, 8 drives) and a stub of
NVIDIA's library with 8 GPUs, so the kernel's and the driver's own work isn't in it. Beside collectd, both measure this
machine every second at the same time.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.report.command import bench_parser, show
from bench.report.rows import row
from local.dev.system.checkout import HERE
from tests.agent.devices.nvml_stub import SOURCE

MEASURED_PATHS = ("agent",)
_SHARE_BAR, _MEMORY_BAR = 1.0, 40.0  # percent of one core, MB
_SECONDS, _QUICK = 40, 10
_TICK = os.sysconf("SC_CLK_TCK")
_COLLECTD = """
Hostname "node"
FQDNLookup false
Interval 1
BaseDir "{0}"
PIDFile "{0}/pid"
TypesDB "/usr/share/collectd/types.db"
{1}
LoadPlugin write_influxdb_udp
<Plugin write_influxdb_udp>
  Server "127.0.0.1" "9"
</Plugin>
LoadPlugin logfile
<Plugin logfile>
  File "/dev/null"
</Plugin>
"""
_PLUGINS = ("cpu", "memory", "swap", "disk", "df", "interface", "load", "processes", "uptime", "vmem", "contextswitch")


def measure(seconds: int) -> Iterator[dict[str, Any]]:
    """Yields rows in the format of all benchmarks."""
    found = _on_large_node()
    if "nvidia" not in found["collectors"]:
        print("no C compiler, so the large node has no GPUs", file=sys.stderr)
    yield row("large node, every 10 s", found["share"] * 100, "% of a core", bar=_SHARE_BAR)
    yield row("large node, peak memory", found["peak"], "MB", bar=_MEMORY_BAR)
    yield row("large node, stored", found["bytes"] / 1000, "kB/h")
    yield row("large node, records", found["records"] / 72, "each 10 s")
    yield from _beside_collectd(seconds)


def _on_large_node() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if compiler := shutil.which("cc") or shutil.which("gcc"):
            source = Path(folder) / "nvml.c"
            source.write_text(SOURCE, encoding="utf-8")
            library = source.with_name("libnvidia-ml.so.1")
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
            environment["LD_LIBRARY_PATH"] = folder
        command = (sys.executable, "-m", "bench.measured.agent_app", f"{folder}/root")
        done = subprocess.run(command, cwd=HERE.root, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        answered: dict[str, Any] = json.loads(done.stdout)
        return answered


def _beside_collectd(seconds: int) -> Iterator[dict[str, Any]]:
    """Yields the use of agent and collectd on this machine, measuring every second at the same time."""
    program = shutil.which("collectd", path=f"/usr/sbin:{os.environ.get('PATH', '')}")
    with tempfile.TemporaryDirectory() as folder:
        agent = subprocess.Popen(_agent(folder), cwd=HERE.root, stderr=subprocess.DEVNULL)
        collectd = subprocess.Popen(_collectd(program, folder), stderr=subprocess.DEVNULL) if program else None
        programs = [one for one in (agent, collectd) if one]
        time.sleep(5)
        before = [_used(one.pid) for one in programs]
        time.sleep(seconds)
        ours, *others = [(_used(one.pid) - start) / seconds * 100 for one, start in zip(programs, before, strict=True)]
        memory = [_resident(one.pid) for one in programs]
        for one in programs:
            one.send_signal(signal.SIGTERM)
            one.wait(30)
    yield row("this node, every second", ours, "% of a core", other=(others[0], "collectd") if others else None)
    yield row("this node, memory", memory[0], "MB", other=(memory[1], "collectd") if others else None)


def _agent(folder: str) -> list[str]:
    node = ("--account=a", "--pool=p", "--node=n", "--imds=http://127.0.0.1:9", "--storage=http://127.0.0.1:9/x")
    return [sys.executable, "-m", "agent", "run", f"--folder={folder}/agent", "--interval=1", *node]


def _collectd(program: str, folder: str) -> list[str]:
    place = Path(folder) / "collectd"
    place.mkdir()
    plugins = "\n".join(f"LoadPlugin {name}" for name in _PLUGINS)
    (place / "collectd.conf").write_text(_COLLECTD.format(place, plugins), encoding="utf-8")
    return [program, "-f", "-C", str(place / "collectd.conf")]


def _used(pid: int) -> float:
    """Returns seconds of CPU that a process used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _resident(pid: int) -> float:
    """Returns a process's resident memory in MB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def main() -> int:
    parser = bench_parser("agent", __doc__)
    parser.add_argument("--quick", action="store_true", help="a short run, to see whether it works")
    options = parser.parse_args()
    rows = list(measure(_QUICK if options.quick else _SECONDS))
    return show("agent", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
