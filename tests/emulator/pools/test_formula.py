"""The language of autoscale formulas, value by value."""

import math
import random
from typing import Any

import pytest

from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.formulas.evaluation import EvaluationContext, EvaluationResult, evaluate, unsupported_variable
from local.batch_emulator.formulas.syntax import FormulaSyntaxError

_NOW = parse_stamp("2026-01-05T08:30:15.25Z")  # a Monday
_RESULTS = "$TargetDedicatedNodes={};$TargetLowPriorityNodes={};$NodeDeallocationOption={}"


def _run(text: str, dedicated: int = 2, spot: int = 0) -> EvaluationResult:
    around = EvaluationContext({}, {"$TaskSlotsPerNode": 4.0}, _NOW, random.Random(1), 2500)  # noqa: S311 - chance, not secrets
    return evaluate(text, (dedicated, spot), around)


def _value(expression: str) -> str:
    """Returns the printed value of an expression."""
    outcome = _run(f"x = {expression};")
    assert outcome.code is None, outcome.problem
    return outcome.results.rpartition(";x=")[2]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 / 2 - 1", "2.5"),
        ("10 - 4 - 3", "3"),
        ("-2 * -3", "6"),
        ("!0 + !5", "1"),
        (".5 + 1.", "1.5"),
        ("2e3", "2000"),
        ("1 / 0", "inf"),
        ("0 / 0", "nan"),
        ("1 < 2", "1"),
        ("2 <= 1", "0"),
        ("1 == 1 && 2 != 3", "1"),
        ("0 || 0", "0"),
        ("1 + 1 > 1 && 0 == 0", "1"),
        ("0 && nothing", "0"),
        ("1 || nothing", "1"),
        ("1 > 2 ? 3 : 4 > 3 ? 5 : 6", "5"),
        ("0 ? nothing : 7", "7"),
        ('"a" < "b"', "1"),
        ('"text"', "text"),
        ("vec(1, 2, 3) * 2", "[2,4,6]"),
        ("vec(1, 2) + vec(3, 4)", "[4,6]"),
        ("TimeInterval_Minute * 5", "00:05:00"),
        ("2 * TimeInterval_Day + TimeInterval_Second / 2", "2.00:00:00.5000000"),
        ("-TimeInterval_Hour", "-01:00:00"),
        ("TimeInterval_Week > TimeInterval_Day", "1"),
        ("TimeInterval_Zero == TimeInterval_100ns - TimeInterval_100ns", "1"),
        ("time()", "2026-01-05T08:30:15.250Z"),
        ("time() + TimeInterval_Year", "2027-01-05T08:30:15.250Z"),
        ('time() - time("2026-01-05T08:00:00Z")', "00:30:15.2500000"),
        ('time("Mon, 05 Jan 2026 08:00:00 GMT") == time("2026-01-05T08:00:00Z")', "1"),
        ("time().weekday", "1"),
        ('time("2026-01-04").weekday', "0"),
        ("time().year * 10000 + time().month * 100 + time().day", "20260105"),
        ("time().hour * 10000 + time().minute * 100 + time().second", "83015"),
        ("avg(1, vec(2, 3), 6)", "3"),
        ("len(vec(1, 2), 3)", "3"),
        ("len()", "0"),
        ("max(3, 1) - min(vec(4, 2))", "1"),
        ("norm(3, 4)", "5"),
        ("range(7, 2, 5)", "5"),
        ("std(2, 4)", f"{math.sqrt(2):.15g}"),
        ("sum(vec(1, 2), 3)", "6"),
        ("lg(8)", "3"),
        ("ln(1)", "0"),
        ("log(vec(10, 100))", "[1,2]"),
        ("ceil(1.2) + floor(-1.2)", "0"),
        ("round(2.5) + round(-2.5) + round(0.4)", "0"),
        ("percentile(vec(1, 2, 3, 4), 50)", "2"),
        ("percentile(vec(4, 2), 100)", "4"),
        ("val(vec(5, 6), 1)", "6"),
        ("rand() < 1 && rand() >= 0", "1"),
        ("$TaskSlotsPerNode * $TargetDedicatedNodes", "8"),
        ("$TargetDedicated + $TargetLowPriority", "2"),
        ("taskcompletion", "taskcompletion"),
    ],
)
def test_an_expression_has_its_documented_value(expression: str, wanted: str) -> None:
    assert _value(expression) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$TargetDedicatedNodes=3", (3, 0, "requeue")),
        ("$TargetDedicatedNodes = 7.9;", (7, 0, "requeue")),
        ("$TargetLowPriorityNodes = 4; $NodeDeallocationOption = taskcompletion;", (2, 4, "taskcompletion")),
        ("$TargetDedicated = 5; $TargetLowPriority = 6", (5, 6, "requeue")),
        ("$TargetDedicated = 5; $TargetDedicatedNodes = 1; $TargetDedicated = 9", (1, 0, "requeue")),
        (
            "$TargetDedicatedNodes = $TargetDedicatedNodes + 1; $TargetDedicatedNodes = $TargetDedicatedNodes * 2",
            (6, 0, "requeue"),
        ),
        ("$TargetDedicatedNodes = 9; stop(); $TargetDedicatedNodes = 1", (9, 0, "requeue")),
        ('$NodeDeallocationOption = "terminate"', (2, 0, "terminate")),
    ],
)
def test_a_formula_sets_targets_and_option(text: str, wanted: tuple[int, int, str]) -> None:
    outcome = _run(text)
    assert (outcome.code, outcome.dedicated, outcome.spot, outcome.option) == (None, *wanted)
    assert outcome.results == _RESULTS.format(*wanted)


def test_the_documented_example_by_the_time_of_day_gives_the_documented_results() -> None:
    outcome = _run("""
        $curTime = time();
        $workHours = $curTime.hour >= 8 && $curTime.hour < 18; // from 8 to 6
        $isWeekday = $curTime.weekday >= 1 && $curTime.weekday <= 5; /* Monday
        to Friday */
        $isWorkingWeekdayHour = $workHours && $isWeekday;
        $TargetDedicatedNodes = $isWorkingWeekdayHour ? 20:10;
    """)
    own = "$curTime=2026-01-05T08:30:15.250Z;$isWeekday=1;$isWorkingWeekdayHour=1;$workHours=1"
    assert outcome.results == f"{_RESULTS.format(20, 0, 'requeue')};{own}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("$something_useless", "Line 1, Col 1: There is no variable '$something_useless'"),
        ("a = 1;\n  b = nothing;", "Line 2, Col 7: There is no variable 'nothing'"),
        ("x = nothing(1)", "Line 1, Col 5: There is no function 'nothing'"),
        ('x = 1 + "a"', "Line 1, Col 7: Operator '+' is not defined for double and string"),
        ("x = time() + time()", "Operator '+' is not defined for timestamp and timestamp"),
        ("x = time() - TimeInterval_Day", "Operator '-' is not defined for timestamp and timeinterval"),
        ("x = 1 < TimeInterval_Day", "Operator '<' is not defined"),
        ("x = vec(1) == vec(1)", "Operator '==' is not defined"),
        ("x = 1 + vec(1)", "Operator '+' is not defined"),
        ("x = vec(1, 2) + vec(1)", "one length"),
        ('x = !"a"', "Operator '!' is not defined for string"),
        ("x = TimeInterval_Day / 0", "infinite"),
        ("x = time() + 9999 * TimeInterval_Year", "between the years"),
        ("x = time().week", "no member 'week'"),
        ("x = (1).year", "double has no member"),
        ("x = (1).GetSample(1)", "A double has no methods"),
        ('x = time("soon")', "'soon' is no time"),
        ("x = avg()", "avg needs at least 1 value"),
        ("x = std(1)", "std needs at least 2 values"),
        ("x = ln(0)", "ln is not defined for 0"),
        ("x = ln(1, 2)", "ln does not take (double, double)"),
        ("x = max(time())", "max does not take a timestamp"),
        ("x = val(vec(1), 1)", "no element 1"),
        ("x = percentile(vec(1), 101)", "0 to 100"),
        ("x = percentile(1)", "percentile does not take (double)"),
        ("x = rand(1)", "rand does not take (double)"),
        ('x = "a" ? 1 : 2', "A condition is a double, not a string"),
        ("$TaskSlotsPerNode = 1", "$TaskSlotsPerNode can't be assigned"),
        ("TimeInterval_Day = 1", "can't be assigned"),
        ("$TargetDedicatedNodes = vec(1)", "$TargetDedicatedNodes is a double, not a doubleVec"),
        ("$TargetDedicatedNodes = -1", "a number from 0 to 2500, not -1"),
        ("$TargetLowPriority = 2501", "a number from 0 to 2500, not 2501"),
        ("$TargetDedicatedNodes = 0 / 0", "not nan"),
        ("$NodeDeallocationOption = 1", "one of requeue, terminate, taskcompletion, retaineddata"),
        (f"x = 1{'+1' * 4000}", "nested too deeply"),
    ],
)
def test_failed_evaluations_change_nothing_and_name_their_place(text: str, problem: str) -> None:
    outcome = _run(text, 2, 1)
    assert outcome.code == "AutoScalingFormulaEvaluationError"
    assert problem in outcome.problem
    assert outcome.problem.startswith("Line ")
    assert (outcome.dedicated, outcome.spot, outcome.option) == (2, 1, "requeue")
    assert outcome.results.startswith(_RESULTS.format(2, 1, "requeue"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The formula is empty"),
        (" ; // nothing", "The formula is empty"),
        ("x =", "Line 1, Col 4: Expected '(', found the end"),
        ("x = 1 y = 2", "Line 1, Col 7: Expected ';', found 'y'"),
        ("x = (1", "Expected ')', found the end"),
        ("x = 1 ? 2", "Expected ':'"),
        ("x = f(1,,2)", "found ','"),
        ("x = f(1 2)", "Expected ','"),
        ("x = 5 % 2", "Line 1, Col 7: Unexpected '%'"),
        ("x = 1;\ny = 'a'", "Line 2, Col 5: Unexpected"),
        ("x = [1, 2]", "Unexpected '['"),
        ("x = time().", "Expected a name"),
        ("x = y = 1", "Expected ';', found '='"),
        ("(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("x=1;" * 101, "More than 100 statements"),
    ],
)
def test_unreadable_formulas_are_syntax_errors(text: str, problem: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        _run(text)
    assert problem in str(caught.value)


def test_a_hundred_statements_are_taken() -> None:
    assert _run("x=1;" * 100).code is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x = avg($CPUPercent.GetSample(1))", "$CPUPercent"),
        ("x = $DiskReadOps.Count() + $NetworkInBytes.Count()", "$DiskReadOps"),
        ("$CPUPercentage = 1", None),
    ],
)
def test_measures_that_are_not_emulated_are_named(text: str, name: Any) -> None:
    assert unsupported_variable(text) == name
