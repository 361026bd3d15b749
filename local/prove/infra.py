"""Plants breakages into copies of the infrastructure, one at a time, and shows who notices: the rules, the checker.

The rules are those of tests/infra and are always there; the checker knows the types of Azure's resources and stands
beside the checkout where the project is developed. Fails below 90 %, or if anything is noticed without a breakage.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from local.dev.checkout import HERE
from tests.infra.breakages import BREAKAGES, Breakage, copy_parts
from tests.infra.checker import Checker, find_checker
from tests.infra.rules import faults

LEAST_SHARE = 0.9


def noticed(breakage: Breakage | None, checker: Checker | None) -> tuple[list[str], bool]:
    """The rules that notice, by name, and whether the checker does."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_parts(HERE.root, root)
        if breakage:
            breakage.plant(root)
        return list(faults(root)), bool(checker and checker.complaints(root))


def main(arguments: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="dev.py prove infra", description=__doc__).parse_args(arguments)
    checker = find_checker()
    if checker is None:
        print("There is no checker beside this checkout: the rules are on their own.")
    rules, complained = noticed(None, checker)
    if rules or complained:
        print(f"Something is noticed without a breakage: {', '.join(rules) or 'the checker complains'}.")
        return 1
    by_rules = by_checker = by_any = 0
    for breakage in BREAKAGES:
        rules, complained = noticed(breakage, checker)
        by_rules += bool(rules)
        by_checker += complained
        by_any += bool(rules) or complained
        who = [*(["checker"] if complained else []), *rules]
        print(f"{'noticed' if who else 'MISSED '}  {breakage.name}: {', '.join(who) or 'by nobody'}", flush=True)
    count = len(BREAKAGES)
    print(f"{by_any} of {count} breakages are noticed: {by_rules} by the rules, {by_checker} by the checker.")
    return 0 if by_any >= LEAST_SHARE * count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
