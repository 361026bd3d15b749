"""Facts of this machine about GPUs: for the report, and to explain missing figures."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_DRIVER = Path("/proc/driver/nvidia")
_PCI = Path("/sys/bus/pci/devices")
_PCI_FILES = (
    "vendor", "device", "class", "current_link_speed", "current_link_width", "max_link_speed", "max_link_width",
)  # fmt: skip


def machine_facts() -> dict[str, object]:
    """Returns the kernel, Python, the driver's own texts, PCI devices of NVIDIA, and the commit of this checkout."""
    return {
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "root": os.geteuid() == 0,
        "pid_namespace": _link("/proc/self/ns/pid"),
        "driver": _text(_DRIVER / "version"),
        "gpus": [_text(path) for path in sorted(_DRIVER.glob("gpus/*/information"))],
        "devices": sorted(str(path) for path in Path("/dev").glob("nvidia*")),
        "pci": _pci(),
        "version": _version(),
    }


def _pci() -> list[dict[str, str]]:
    return [
        {"address": path.name, **{name: _text(path / name) for name in _PCI_FILES}}
        for path in sorted(_PCI.glob("*"))[:1024]
        if _text(path / "vendor") == "0x10de"
    ]


def _version() -> str:
    """Returns version and commit, the latter `unknown` outside of a checkout of git."""
    version = re.search(r'^version = "(.+)"$', _text(ROOT / "pyproject.toml"), re.MULTILINE)
    commit = ""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],  # noqa: S607 - wherever it is
            cwd=str(ROOT), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=10,
            check=False,
        )  # fmt: skip
        commit = done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return f"version {version.group(1) if version else 'unknown'}, commit {commit or 'unknown'}"


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
