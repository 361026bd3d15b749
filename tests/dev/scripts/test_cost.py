"""Batchscope's cost: the table in the docs is the script's output for the stored counts and prices."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bench.cost import COUNTS, LARGE, PAGE, PRICES, SHAPES, SMALL, TWO_CASES, main, page_with, section, values_of
from bench.parts.cost_model import Case, Month, bill, log_analytics, rates_of

STORED = json.loads(COUNTS.read_text(encoding="utf-8"))
TOLD = json.loads(PRICES.read_text(encoding="utf-8"))
RATES = rates_of(STORED["shapes"])
NAMES = [*TOLD["prices"], *TOLD["assumptions"]]


def total(case: Case, *overrides: str) -> float:
    return sum(line.cost for line in bill(case, RATES, values_of(overrides)))


def test_the_page_has_the_table_that_the_script_makes() -> None:
    assert page_with(section(values_of(), TWO_CASES)) == PAGE.read_text(encoding="utf-8"), (
        "python3 dev.py bench cost --write"
    )


def test_the_counted_cases_equal_the_shapes() -> None:
    assert [Case(**shape["case"]) for shape in STORED["shapes"]] == list(SHAPES)


def test_a_shape_that_was_measured_comes_out_as_it_was_measured() -> None:
    for shape in STORED["shapes"]:
        month = Month(Case(**shape["case"]), RATES, values_of())
        for measure in ("table", "batch", "blobRead", "blobList"):
            counted = shape["tick"].get(measure, 0)
            assert month.of("tick", measure) == pytest.approx(counted, rel=0.05, abs=1), (shape["case"], measure)


def test_a_large_deployment_costs_more_in_every_line_but_those_of_people_and_rules() -> None:
    for small, large in zip(*(bill(case, RATES, values_of()) for case in (SMALL, LARGE)), strict=True):
        assert large.what == small.what
        assert large.amount >= small.amount, large.what
    assert total(replace(LARGE, telemetry=0)) < total(LARGE)


@pytest.mark.parametrize("name", NAMES)
def test_each_price_and_assumption_has_a_source_and_affects_a_sum(name: str) -> None:
    part: dict[str, Any] = TOLD["prices"].get(name) or TOLD["assumptions"][name]
    assert part["source"]
    assert part["unit"]
    assert "date" in part or name in TOLD["assumptions"]
    double = f"{name}={part['value'] * 2}"
    others = [log_analytics(LARGE, values_of(some)).cost for some in ([double], [])]
    sums = (total(LARGE, double), others[0]), (total(LARGE), others[1])
    assert sums[0] != pytest.approx(sums[1], rel=1e-9)


def test_a_case_of_ones_own_is_shown_and_an_unknown_price_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--accounts", "3", "--jobs", "100", "--set", "tableOperations=1"]) == 0
    shown = capsys.readouterr().out
    assert "| yours |" in shown
    assert f"**{total(Case(accounts=3, jobs=100), 'tableOperations=1'):,.2f}**" in shown
    with pytest.raises(SystemExit):
        main(["--set", "tabelOperations=1"])
    assert "There is no 'tabelOperations'; there are" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--nodes", "-3"])
    assert "-3 is not a whole number from 0" in capsys.readouterr().err
