"""The agent and collectd as processes that measure the same machine, or the same tree in its place, every second."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from local.dev.system.checkout import HERE

_TICK = os.sysconf("SC_CLK_TCK")
_WARM = 5  # seconds until both have begun
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
<Plugin processes>
{2}
</Plugin>
"""
_PLUGINS = ("cpu", "memory", "swap", "disk", "df", "interface", "load", "processes", "uptime", "vmem", "contextswitch")
_COVER = 'mount --bind "$0/proc" /proc && mount --bind "$0/sys" /sys && exec "$@"'


class Cost(NamedTuple):
    """Percent of a core, and resident memory in MB."""

    share: float
    memory: float


def costs_of_both(
    folder: Path,
    seconds: int,
    *,
    covered: Sequence[str] = (),
    tasks: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    each_second: Callable[[], None] = lambda: None,
) -> list[Cost]:
    """Returns the cost of the agent and, where it is installed, that of collectd with like plugins.

    `covered` is what `covering` returned. collectd groups processes by the names of `tasks` in their command lines.
    """
    programs = [
        subprocess.Popen(
            [*covered, *command],
            cwd=HERE.root,
            env=dict(environment),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for command in _commands(folder, tasks)
    ]
    try:
        _live(_WARM, each_second)
        before = [_used(one.pid) for one in programs]
        begin = time.monotonic()
        _live(seconds, each_second)
        passed = time.monotonic() - begin
        return [
            Cost((_used(one.pid) - start) / passed * 100, _resident(one.pid))
            for one, start in zip(programs, before, strict=True)
        ]
    finally:
        for one in programs:
            one.send_signal(signal.SIGTERM)
        for one in programs:
            one.wait(30)


def covering(root: Path) -> tuple[str, ...]:
    """Returns the begin of a command to which a tree's /proc and /sys are the machine's; empty if not permitted."""
    rights = () if os.geteuid() == 0 else ("--map-root-user",)
    begin = ("unshare", "--mount", *rights, "sh", "-c", _COVER, str(root))
    is_permitted = (
        shutil.which("unshare")
        and not subprocess.run([*begin, "true"], stderr=subprocess.DEVNULL, check=False).returncode
    )
    return begin if is_permitted else ()


def _commands(folder: Path, tasks: Sequence[str]) -> list[list[str]]:
    program = shutil.which("collectd", path=f"/usr/sbin:{os.environ.get('PATH', '')}")
    return [_agent(folder), *([_collectd(program, folder, tasks)] if program else [])]


def _agent(folder: Path) -> list[str]:
    node = ("--account=a", "--pool=p", "--node=n", "--imds=http://127.0.0.1:9", "--storage=http://127.0.0.1:9/x")
    return [sys.executable, "-m", "agent", "run", f"--folder={folder}/agent", "--interval=1", *node]


def _collectd(program: str, folder: Path, tasks: Sequence[str]) -> list[str]:
    place = folder / "collectd"
    place.mkdir()
    plugins = "\n".join(f"LoadPlugin {name}" for name in _PLUGINS)
    groups = "\n".join(f'  ProcessMatch "{task}" "--task={task}$"' for task in tasks)
    (place / "collectd.conf").write_text(_COLLECTD.format(place, plugins, groups), encoding="utf-8")
    return [program, "-f", "-C", str(place / "collectd.conf")]


def _live(seconds: int, each_second: Callable[[], None]) -> None:
    begin = time.monotonic()
    for second in range(1, seconds + 1):
        each_second()
        time.sleep(max(begin + second - time.monotonic(), 0.0))


def _used(pid: int) -> float:
    """Returns seconds of CPU that a process used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _resident(pid: int) -> float:
    """Returns a process's resident memory in MB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
