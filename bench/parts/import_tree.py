"""The modules that an import loads, by package and time, from `python -X importtime`."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_LINE = re.compile(r"import time: +(\d+) \| +\d+ \| *(\S+)")
_DIVIDED = ("azure", "functions", "shared")  # packages that are split into their parts


def import_tree(statements: list[str], root: Path, environment: Mapping[str, str]) -> list[dict[str, float]]:
    """Returns milliseconds by package for each of the statements, which run in sequence."""
    mark = "-" * 20
    program = f"\nsys.stderr.write('{mark}\\n')\n".join(statements)
    command = [sys.executable, "-X", "importtime", "-c", f"import sys\n{program}"]
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    return [_by_package(part) for part in done.stderr.split(mark)]


def shown(loaded: Mapping[str, float], most: int = 12) -> Iterator[str]:
    """Yields the slowest packages, and the sum."""
    for package, milliseconds in sorted(loaded.items(), key=lambda found: -found[1])[:most]:
        yield f"  {milliseconds:7.1f} ms  {package}"
    yield f"  {sum(loaded.values()):7.1f} ms  all"


def _by_package(text: str) -> dict[str, float]:
    found = dict[str, float]()
    for line in _LINE.finditer(text):
        package = _package(line[2])
        found[package] = found.get(package, 0) + int(line[1]) / 1e3
    return found


def _package(module: str) -> str:
    parts = module.split(".")
    if parts[0] in _DIVIDED:
        return ".".join(parts[:2])
    return "Python's own" if parts[0] in sys.stdlib_module_names else parts[0]
