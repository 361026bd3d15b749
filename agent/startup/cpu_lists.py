"""Numbers of processors in the kernel's lists, such as `0-3,8`."""

from __future__ import annotations

MAX_CPUS = 8192
_MAX_DIGITS = 5


def listed_cpus(text: str) -> list[int]:
    """Returns the numbers of a list such as `0-3,8`, in order; empty where it makes no sense."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (_is_number(first) and _is_number(last)):
            return []
        found.update(range(int(first), int(last) + 1))
    return sorted(found)


def cpu_numbers(cpuinfo: str) -> list[int]:
    """Returns the numbers of the processors that /proc/cpuinfo describes, in order."""
    lines = (line.partition(":") for line in cpuinfo.splitlines() if line.startswith("processor"))
    return sorted({int(number) for _, _, number in lines if _is_number(number.strip())})


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS and int(text) < MAX_CPUS
