"""Kills an emulator that keeps its accounts (`--data`) again and again, while clients change them.

After each kill it restarts on the same directory. Everything acknowledged more than a second before the kill must
exist, deleted resources must stay deleted, collections must be complete or absent, and counts must equal lists. At the
end every task must complete.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.emulator.keeping.killing import run_rounds

MEASURED_PATHS = ("local/batch_emulator",)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py prove kills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=30, help="how often it is killed (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is changed and when (default: %(default)s)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run_rounds(Path(folder), options.kills, options.seed, longest=4.0, told=print))
    for problem in found.problems:
        print(problem)
    print(f"{options.kills} kills, {found.checked:,} acknowledged changes checked, {len(found.problems)} problems.")
    return 1 if found.problems or not found.checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
