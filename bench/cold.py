"""How long the app takes to import on top of azure.functions, in fresh processes: what a cold start adds."""

import argparse
import json
import platform
import statistics
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_BAR_MS = 150.0
_PROBE = """
import time
start = time.perf_counter()
import azure.functions
middle = time.perf_counter()
import function_app
print((middle - start) * 1e3, (time.perf_counter() - middle) * 1e3)
"""


def measure(runs: int) -> tuple[float, float]:
    """Median milliseconds of importing azure.functions, and of function_app after it; the first run warms up."""
    library, app = [], []
    for run in range(runs + 1):
        done = subprocess.run([sys.executable, "-c", _PROBE], cwd=_ROOT, check=True, capture_output=True, text=True)
        first, second = map(float, done.stdout.split())
        if run:
            library.append(first)
            app.append(second)
    return statistics.median(library), statistics.median(app)


def main() -> int:
    """1 where the bar is missed."""
    parser = argparse.ArgumentParser(prog="dev.py bench cold", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    parser.add_argument("--runs", type=int, default=7, help="processes to start (default: %(default)s)")
    options = parser.parse_args()
    library, app = measure(options.runs)
    ok = app <= _BAR_MS
    verdict = "ok" if ok else "MISSED"
    print(f"azure.functions {library:6.1f} ms\nfunction_app   +{app:6.1f} ms  (bar {_BAR_MS:g} ms: {verdict})")
    row = {
        "measure": "import",
        "ours": round(app, 1),
        "other": round(library, 1),
        "otherName": "azure.functions alone",
        "unit": "ms",
        "ratio": round(app / library, 2),
        "bar": _BAR_MS,
        "ok": ok,
    }
    if options.json:
        answer = {"name": "cold", "machine": f"{platform.machine()} {platform.python_version()}", "measures": [row]}
        options.json.write_text(json.dumps(answer, indent=2) + "\n")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
