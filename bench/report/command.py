"""The command line of a benchmark: its parser, and how it shows its rows."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.report.rows import answer, table


def bench_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark, with its option `--json`."""
    parser = argparse.ArgumentParser(prog=f"dev.py bench {name}", description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures there")
    return parser


def show(name: str, rows: Sequence[dict[str, Any]], json: Path | None) -> int:
    """Shows the rows of a benchmark, writes them to the file `json` if there is one, and returns the exit code.

    The code is 0 if there are rows and every bar is met, else 1.
    """
    print(table(list(rows)))
    if json:
        json.write_text(answer(name, list(rows)), encoding="utf-8")
    return 0 if rows and all(one["ok"] for one in rows) else 1
