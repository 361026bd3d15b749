"""Measures a cold start: importing function_app beside azure.functions alone, then the first request and tick.

Each is measured in fresh processes that alternate, with warm bytecode as in a deployed package. Bars apply to the least
CPU of the runs, as other load only adds to it; median times are shown too. The first request and the first tick are
compared with the same app with all modules imported at start: deferred loading may not cost more in all.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.emulated.services import running_emulator, running_storage
from bench.parts.import_tree import import_tree, shown
from bench.report.command import bench_parser, show
from bench.report.rows import row
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.dev.system.checkout import HERE

MEASURED_PATHS = ("function_app.py", "functions", "shared", "requirements.txt")
_RATIO_BAR, _ADDED_BAR_MS, _FIRST_USE_BAR = 1.5, 150.0, 1.1
_APP, _LIBRARY = "function_app", "azure.functions"
_PROBE = """
import time
cpu, start = time.process_time(), time.monotonic()
import {}
print((time.process_time() - cpu) * 1e3, (time.monotonic() - start) * 1e3)
"""
_FIRST_USES = {"request": "process start to first answer", "tick": "process start to the end of the first tick"}
_LATER = "from bench.measured.first_use import import_all; import_all()"


class ProcessTimes(NamedTuple):
    """Milliseconds of one process."""

    cpu: float
    wall: float


def measure(runs: int) -> list[dict[str, Any]]:
    """Returns rows in the format of all benchmarks; prints the loaded modules."""
    found: dict[str, list[ProcessTimes]] = {}
    with _stage() as environment:
        for turn in range(runs + 1):
            for name, took in _turn(environment):
                found.setdefault(name, []).extend([took] if turn else [])  # the first turn creates bytecode and tables
        _print_tree(environment)
    return [*_import_rows(found[_APP], found[_LIBRARY]), *_use_rows(found)]


def _turn(environment: Mapping[str, str]) -> Iterator[tuple[str, ProcessTimes]]:
    """Runs one process of each kind."""
    for module in (_LIBRARY, _APP):
        yield module, _process(["-c", _PROBE.format(module)], environment)
    for name in _FIRST_USES:
        for mode in (name, f"eager-{name}"):
            yield mode, _process(["-m", "bench.measured.first_use", mode, str(time.monotonic())], environment)


@contextmanager
def _stage() -> Iterator[dict[str, str]]:
    """Yields the settings of an app with storage and an account, with an initially empty bytecode cache."""
    with tempfile.TemporaryDirectory() as folder, running_storage() as storage, running_emulator() as (url, _):
        yield {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
            "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
            "AzureWebJobsStorage": storage,
            "TELEMETRY_STORAGE": storage,
            "BATCH_ACCOUNTS": f"demo={url}",
            "BATCH_ACCOUNT_KEYS": f"demo={DEVELOPMENT_KEY}",
            "POLL_SECONDS": "1",
        }


def _process(arguments: list[str], environment: Mapping[str, str]) -> ProcessTimes:
    """Returns a process's own measurement. Raises SystemExit with its errors if it fails."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=HERE.root, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments[:3])} failed:\n{done.stderr}")
    return ProcessTimes(*map(float, done.stdout.split()))


def _print_tree(environment: Mapping[str, str]) -> None:
    parts = import_tree([f"import {_LIBRARY}", f"import {_APP}", _LATER], HERE.root, environment)
    for title, loaded in zip((f"import {_LIBRARY}", f"import {_APP} then", "first use then"), parts, strict=True):
        print(f"{title}:", *shown(loaded), "", sep="\n")


def _import_rows(app: list[ProcessTimes], library: list[ProcessTimes]) -> Iterator[dict[str, Any]]:
    other = f"{_LIBRARY} alone"
    least, alone = min(app).cpu, min(library).cpu
    yield row("import", least, "ms CPU", other=(alone, other), bar=_RATIO_BAR)
    yield row("import, median of times", _median(app), "ms", other=(_median(library), other))
    yield row(f"import, more than {_LIBRARY}", least - alone, "ms CPU", bar=_ADDED_BAR_MS)


def _use_rows(found: Mapping[str, list[ProcessTimes]]) -> Iterator[dict[str, Any]]:
    other = "all imported at start"
    for name, title in _FIRST_USES.items():
        lazy, eager = found[name], found[f"eager-{name}"]
        yield row(title, min(lazy).cpu, "ms CPU", other=(min(eager).cpu, other), bar=_FIRST_USE_BAR)
        yield row(f"{title}, median of times", _median(lazy), "ms", other=(_median(eager), other))


def _median(runs: list[ProcessTimes]) -> float:
    return median(run.wall for run in runs)


def main() -> int:
    """Returns 1 if a bar is missed."""
    parser = bench_parser("cold", __doc__)
    parser.add_argument("--runs", type=int, default=11, help="processes of each kind to start (default: %(default)s)")
    options = parser.parse_args()
    rows = measure(options.runs)
    return show("cold", rows, options.json)


if __name__ == "__main__":
    sys.exit(main())
