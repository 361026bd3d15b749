"""Estimates Batchscope's own monthly cost from measured counts and list prices, for two cases or for yours.

Counts are stored in bench/cost_counts.json and come from `--measure`: the app's own ticks, housekeeping and scrapes
against Azurite and the Batch emulator, for shapes that differ in one quantity each. Prices and assumptions are in
bench/cost_prices.json, each with its source; `--set NAME=VALUE` overrides any of them. `--write` puts the table of the
two cases into docs/operations.md.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.emulated.services import measured_by, running_accounts
from bench.parts.cost_model import Case, Line, Month, bill, log_analytics, rates_of
from bench.report.rows import answer, row
from local.dev.checking.figures import code_version, markdown, replaced
from local.dev.system.checkout import HERE

MEASURED_PATHS = ("functions", "shared")
COUNTS, PRICES = HERE.root / "bench/cost_counts.json", HERE.root / "bench/cost_prices.json"
PAGE = HERE.root / "docs/operations.md"
SMALL = Case(accounts=1, jobs=20, changing=5, pools=1, nodes=20)
LARGE = Case(accounts=12, jobs=2_000, changing=400, pools=60, nodes=5_000, telemetry=5_000)
SHAPES = (
    Case(),
    Case(accounts=2),
    Case(pools=20, nodes=200),
    Case(pools=10, nodes=200),
    Case(jobs=50, pools=10, nodes=200),
    Case(jobs=50, changing=50, pools=10, nodes=200),
    Case(pools=10, nodes=200, telemetry=200),
)
"""The measured shapes: each has one quantity more than another."""
_LITTLE = 10  # below which decimals are shown


def measured(case: Case) -> dict[str, Any]:
    """Returns the counts of a shape."""
    print(f"measuring {case}", file=sys.stderr, flush=True)
    with running_accounts(case.accounts) as stage:
        return measured_by("cost_app", json.dumps(asdict(case) | stage))


def measure() -> None:
    """Measures all shapes and writes their counts."""
    shapes = [{"case": asdict(case), **measured(case)} for case in SHAPES]
    write_counts(shapes)


def write_counts(shapes: Sequence[Mapping[str, Any]]) -> None:
    counts = {"code": code_version(HERE.root), "date": f"{datetime.now(UTC):%Y-%m-%d}", "shapes": shapes}
    COUNTS.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


def values_of(overrides: Sequence[str] = ()) -> dict[str, float]:
    """Returns prices and assumptions by name, some overridden by `NAME=VALUE`. Raises ValueError."""
    stored = json.loads(PRICES.read_text(encoding="utf-8"))
    values = {name: float(one["value"]) for part in ("prices", "assumptions") for name, one in stored[part].items()}
    for override in overrides:
        name, _, text = override.partition("=")
        if name not in values:
            raise ValueError(f"There is no '{name}'; there are {', '.join(sorted(values))}.")
        values[name] = float(text)
    return values


def section(values: Mapping[str, float], cases: Mapping[str, Case]) -> str:
    """Returns the table of some cases, with the origin of its counts and prices."""
    stored = json.loads(COUNTS.read_text(encoding="utf-8"))
    prices = json.loads(PRICES.read_text(encoding="utf-8"))
    rates = rates_of(stored["shapes"])
    bills = [bill(case, rates, values) for case in cases.values()]
    header = ["a month", *(cell for name in cases for cell in (name, prices["currency"])), "amount is"]
    rows = [
        [lines[0].what, *(cell for line in lines for cell in (_amount(line), f"{line.cost:,.2f}")), lines[0].basis]
        for lines in zip(*bills, strict=True)
    ]
    sums = [cell for lines in bills for cell in ("", f"**{sum(line.cost for line in lines):,.2f}**")]
    rows.append(["**all**", *sums, ""])
    months = [Month(case, rates, values) for case in cases.values()]
    ticks = ", ".join(f"{month.seconds('tick'):,.0f} s ({name})" for name, month in zip(cases, months, strict=True))
    origin = f"Counts: {stored['date']}, {stored['code']}. Prices: list prices of {prices['region']},"
    return (
        f"{markdown(header, rows)}\n\nA tick takes {ticks}.\n{_beside_log_analytics(cases, values)}\n{origin} without"
        " discounts and free grants (`bench/cost_prices.json`)."
    )


def _beside_log_analytics(cases: Mapping[str, Case], values: Mapping[str, float]) -> str:
    """Returns a sentence with the cost of the nodes' series in Log Analytics, a record for each series and minute."""
    some = [(name, log_analytics(case, values)) for name, case in cases.items() if case.telemetry]
    parts = [f"{line.amount:,.0f} GB, {line.cost:,.2f} ({name})" for name, line in some]
    return f"The same series in Log Analytics, a record for each series and minute: {'; '.join(parts) or 'none'}."


def _amount(line: Line) -> str:
    shown = f"{line.amount:,.2f}" if line.amount < _LITTLE else f"{line.amount:,.0f}"
    return f"{shown} {line.unit}".strip()


def page_with(text: str) -> str:
    """Returns docs/operations.md with its table replaced."""
    return replaced(PAGE.read_text(encoding="utf-8"), "cost", text)


TWO_CASES = {"1 account, 20 jobs": SMALL, "12 accounts, 2,000 jobs, 5,000 nodes": LARGE}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py bench cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for field in fields(Case):
        parser.add_argument(f"--{field.name}", type=_count, metavar="N", help="of a case of your own")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another price or assumption")
    parser.add_argument("--measure", action="store_true", help="count anew first, which takes a quarter of an hour")
    parser.add_argument("--write", action="store_true", help="put the table of the two cases into docs/operations.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the sums there")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    given = {field.name: value for field in fields(Case) if (value := getattr(options, field.name)) is not None}
    cases = {"yours": Case(**given)} if given else TWO_CASES
    if options.measure:
        measure()
    try:
        values = values_of(options.set)
    except ValueError as error:
        parser.error(str(error))
    print(section(values, cases))
    if options.write:
        PAGE.write_text(page_with(section(values_of(), TWO_CASES)), encoding="utf-8")
    if options.json:
        rates = rates_of(json.loads(COUNTS.read_text(encoding="utf-8"))["shapes"])
        sums = {name: sum(line.cost for line in bill(case, rates, values)) for name, case in cases.items()}
        options.json.write_text(
            answer("cost", [row(name, cost, "USD") for name, cost in sums.items()]), encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
