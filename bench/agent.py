"""Measures the node agent: its cost on a large node, and beside collectd there and on this machine.

The large node is a tree of files (96 cores, 500 processes of which 400 belong to 16 tasks, 8 drives) and a stub of
NVIDIA's library with 8 GPUs, so the kernel's and the driver's own work isn't in it. First the agent samples it every 10
seconds of a stepped time. Then agent and collectd run at the same time and measure it every second, in mount
namespaces where the tree covers /proc and /sys; collectd groups processes by the 16 tasks as the agent does. At last
both measure this machine.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.parts.beside_collectd import Cost, costs_of_both, covering
from bench.parts.large_node import TASK_NAMES, LargeNode
from bench.report.command import bench_parser, show
from bench.report.rows import row
from local.dev.system.checkout import HERE
from tests.agent.devices.nvml_stub import SOURCE

MEASURED_PATHS = ("agent",)
_SHARE_BAR, _MEMORY_BAR = 1.0, 40.0  # percent of one core, MB
_SECONDS, _QUICK = 40, 10


def measure(seconds: int) -> Iterator[dict[str, Any]]:
    """Yields rows in the format of all benchmarks."""
    with _environment() as environment:
        found = _on_large_node(environment)
        if "nvidia" not in found["collectors"]:
            print("no C compiler, so the large node has no GPUs", file=sys.stderr)
        yield row("large node, every 10 s", found["share"] * 100, "% of a core", bar=_SHARE_BAR)
        yield row("large node, peak memory", found["peak"], "MB", bar=_MEMORY_BAR)
        yield row("large node, stored", found["bytes"] / 1000, "kB/h")
        yield row("large node, records", found["records"] / 72, "each 10 s")
        yield from _rows("large node", _both_on_large_node(seconds, environment))
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows("this node", costs_of_both(Path(folder), seconds))


@contextmanager
def _environment() -> Iterator[Mapping[str, str]]:
    """Yields the environment of a process that finds the stub of NVIDIA's library, where there is a C compiler."""
    with tempfile.TemporaryDirectory() as folder:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            yield os.environ
            return
        source = Path(folder) / "nvml.c"
        source.write_text(SOURCE, encoding="utf-8")
        library = source.with_name("libnvidia-ml.so.1")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        yield {**os.environ, "LD_LIBRARY_PATH": folder}


def _on_large_node(environment: Mapping[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "bench.measured.agent_app", f"{folder}/root")
        done = subprocess.run(command, cwd=HERE.root, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        answered: dict[str, Any] = json.loads(done.stdout)
        return answered


def _both_on_large_node(seconds: int, environment: Mapping[str, str]) -> list[Cost]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        node, covered = LargeNode(root), covering(root)
        if not covered:
            print("no right to mounts, so the large node isn't measured beside collectd", file=sys.stderr)
            return []
        advance = partial(node.advance, 1)
        return costs_of_both(
            Path(folder), seconds, covered=covered, tasks=TASK_NAMES, environment=environment, each_second=advance
        )


def _rows(node: str, costs: Sequence[Cost]) -> Iterator[dict[str, Any]]:
    """Yields rows of the agent beside collectd; none without costs."""
    if costs:
        ours, *others = costs
        share, memory = ((getattr(others[0], name), "collectd") if others else None for name in Cost._fields)
        yield row(f"{node}, every second", ours.share, "% of a core", other=share)
        yield row(f"{node}, memory", ours.memory, "MB", other=memory)


def main() -> int:
    parser = bench_parser("agent", __doc__)
    parser.add_argument("--quick", action="store_true", help="a short run, to see whether it works")
    options = parser.parse_args()
    rows = list(measure(_QUICK if options.quick else _SECONDS))
    return show("agent", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
