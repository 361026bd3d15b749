"""Plants breakages into copies of the infrastructure, one at a time, and shows whether the rules or the checker notice.

The rules are those of tests/infra and always run. The checker knows the types of Azure's resources; it is beside the
checkout where the project is developed. `--every-line` makes every small change of every Bicep line instead of the
chosen breakages (about ten minutes) and shows only changes that the rules miss, mostly of arbitrary names. Fails below
90 %, if only tables notice an unsafe breakage, or if anything is noticed without a breakage.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from local.dev.checking.figures import markdown
from local.dev.system.checkout import HERE
from local.prove.reporting.command import proof_parser
from local.prove.reporting.figures import short_headline
from local.prove.reporting.proofs_page import write_section
from tests.infra.breakages.breakages import BREAKAGES
from tests.infra.breakages.checker import Checker, find_checker
from tests.infra.breakages.mutations import mutations
from tests.infra.breakages.planting import Breakage, copy_parts
from tests.infra.rules.rules import TABLES, faults, first_fault

MEASURED_PATHS = ("infra", "tests/infra", "tests/data/infra")
MIN_SHARE = 0.9


def main(arguments: Sequence[str]) -> int:
    parser = proof_parser("infra", __doc__)
    parser.add_argument("--every-line", action="store_true", help="change every line instead")
    options = parser.parse_args(arguments)
    if options.every_line and options.write:
        parser.error("docs/proofs.md has the chosen breakages; leave out --every-line or --write")
    checker = find_checker()
    if checker is None:
        print("There is no checker beside this checkout: the rules are on their own.")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_parts(HERE.root, root)
        before = [*faults(root), *(["the checker"] if checker and checker.complaints(root) else [])]
        if before:
            print(f"Without a breakage there is a complaint of {', '.join(before)}.")
            return 1
        return _every_line(root) if options.every_line else _chosen(root, checker, write=options.write)


def _chosen(root: Path, checker: Checker | None, *, write: bool) -> int:
    by_rules = by_tables = by_checker = by_any = 0
    began, missed, unsafe = datetime.now(UTC), [], []
    for breakage in BREAKAGES:
        with breakage.planted(root):
            found, complained = faults(root).keys(), bool(checker and checker.complaints(root))
        by_tables += bool(found & TABLES)
        by_rules += bool(found - TABLES)
        by_checker += complained
        by_any += bool(found) or complained
        if not found and not complained:
            missed.append(breakage.name)
        if breakage.unsafe and not found - TABLES:
            unsafe.append(breakage.name)
        who = [*(["checker"] if complained else []), *found]
        print(f"{'noticed' if who else 'MISSED '}  {breakage.name}: {', '.join(who) or 'by nobody'}", flush=True)
    shares = f"{by_tables} by tables, {by_rules} by other rules, {by_checker} by the checker"
    print(f"{by_any} of {len(BREAKAGES)} are noticed: {shares}.")
    count = sum(breakage.unsafe for breakage in BREAKAGES)
    print(f"{count - len(unsafe)} of {count} unsafe ones are noticed without tables.", *unsafe, sep="\n    ")
    if write:
        figures = [
            ("planted breakages", str(len(BREAKAGES))),
            ("noticed by the rules or the checker", str(by_any)),
            ("noticed by the tables of what is deployed", str(by_tables)),
            ("noticed by other rules", str(by_rules)),
            ("unsafe, and noticed by other rules", f"{count - len(unsafe)} of {count}"),
            ("noticed by the checker", str(by_checker) if checker else "no checker beside this checkout"),
            ("not noticed", ", ".join(missed) or "none"),
        ]
        head = f"{short_headline('infra', began)}:"
        write_section("infra", f"{head}\n\n{markdown(('measure', 'value'), figures)}")
    return 0 if by_any >= MIN_SHARE * len(BREAKAGES) and not unsafe else 1


def _every_line(root: Path) -> int:
    count = noticed = 0
    for mutation in _all_mutations(root):
        with mutation.planted(root):
            found = first_fault(root)
        count += 1
        noticed += found is not None
        if found is None:
            print(f"MISSED   {mutation.name}", flush=True)
    print(f"{noticed} of {count} changes are noticed by the rules.")
    return 0 if noticed >= MIN_SHARE * count else 1


def _all_mutations(root: Path) -> Iterator[Breakage]:
    for path in sorted((root / "infra").rglob("*.bicep")):
        yield from mutations(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
