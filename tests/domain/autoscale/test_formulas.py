"""The language of autoscale formulas in the app: values, samples, targets, and the sentences of errors."""

import math

import pytest

from shared.domain.autoscale.evaluation import MAX_STEPS
from shared.domain.autoscale.formula_errors import FormulaSyntaxError
from shared.domain.autoscale.parser import MAX_FORMULA, parsed
from shared.domain.autoscale.values import SECOND, Interval, Timestamp
from tests.domain.autoscale.evaluating import NOW_MS, PERIOD_MS, history_of, problem, run, value

_MINUTES_5 = history_of({"$PendingTasks": [float(at) for at in range(1, 11)]})


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("2 - 3 - 4", -5),
        ("-(1 + 2) * 2", -6),
        ("!0 + !7 + !!3", 2),
        ("1 + 1 == 2 && 3 > 2", 1),
        ("0 || 0 && unknown", 0),
        ("1 || unknown", 1),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 0 ? 1 : 2 : 3", 2),
        ("1 / 0 > 1e300", 1),
        ("sum(vec(1, 2, 3) * 2 - vec(1, 1, 1))", 9),
        ("avg(1, vec(2, 3), 6) + len()", 3),
        ("max(3, 1) - min(vec(4, 2)) + range(7, 2)", 6),
        ("norm(3, 4) + std(2, 4) * std(2, 4)", 7),
        ("lg(8) + ln(1) + log(100)", 5),
        ("sum(lg(vec(2, 4))) + round(1.6) + ceil(0.1) + floor(0.9)", 6),
        ("percentile(vec(5, 1, 3), 50) + val(vec(4, 6), 1.7)", 9),
        ("rand()", 0.5),
        ('"a" < "b" && "a" != "b"', 1),
        ("time().year + time().month + time().day + time().weekday", 2033),
        ("time().hour * 3600 + time().minute * 60 + time().second", 30615),
        ('time("2026-01-04").weekday', 0),
        ('time() - time("2026-01-05T09:30:15.25+01:00") == TimeInterval_Zero', 1),
        ('time("Mon, 05 Jan 2026 08:30:15 GMT") < time()', 1),
        ("TimeInterval_Day / 2 == 12 * TimeInterval_Hour", 1),
        ("time() + TimeInterval_Week - time() == TimeInterval_Day * 7", 1),
        ("$TaskSlotsPerNode * $TargetDedicatedNodes + $TargetLowPriority", 8),
        ("1 /* one\n more */ + // and\n 1", 2),
    ],
)
def test_an_expression_has_its_documented_value(expression: str, wanted: float) -> None:
    found = value(expression)
    assert isinstance(found, float)
    assert math.isclose(found, wanted)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("$PendingTasks.GetSample(3)", (8, 9, 10)),
        ("$PendingTasks.GetSample(TimeInterval_Minute)", (10,)),
        ("$PendingTasks.GetSample(TimeInterval_Minute * 2, TimeInterval_Minute)", (8, 9)),
        ("$PendingTasks.GetSample(time() - time() + TimeInterval_Minute * 2, 60)", (8, 9, 10)),
        ("$PendingTasks.GetSample(TimeInterval_Day)", tuple(range(1, 11))),
        ("$PendingTasks.GetSample(0)", ()),
        ("vec($PendingTasks.Count(), $PendingTasks)", (10, 10)),
        ("vec($PendingTasks.GetSamplePercent(TimeInterval_Minute * 10))", (50,)),
    ],
)
def test_samples_are_those_of_a_time_frame_or_the_latest(expression: str, wanted: tuple[float, ...]) -> None:
    assert value(expression, _MINUTES_5) == wanted


def test_the_history_of_samples_has_a_period_and_a_begin() -> None:
    assert value("$PendingTasks.GetSamplePeriod()", _MINUTES_5) == Interval(30 * SECOND)
    begin = NOW_MS - 10 * PERIOD_MS
    assert value("$PendingTasks.HistoryBeginTime()", _MINUTES_5) == Timestamp(begin * (SECOND // 1000))


def test_no_more_than_a_day_of_samples_is_kept() -> None:
    days = history_of({"$PendingTasks": [1.0] * 6000})
    assert value("$PendingTasks.Count()", days) == 2880
    assert value("len($PendingTasks.GetSample(TimeInterval_Week))", days) == 2880


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$TargetDedicatedNodes = 3.9;", (3, 0, "requeue")),
        ("$TargetDedicated = 5; $TargetDedicatedNodes = 1; $TargetDedicated = 9", (1, 0, "requeue")),
        ("$TargetLowPriority = $TargetDedicatedNodes + 2", (2, 4, "requeue")),
        ("$TargetDedicatedNodes = 9; stop(); $TargetDedicatedNodes = 1", (9, 0, "requeue")),
        ("$NodeDeallocationOption = taskcompletion", (2, 0, "taskcompletion")),
    ],
)
def test_a_formula_sets_targets_and_the_option(text: str, wanted: tuple[int, int, str]) -> None:
    found = run(text)
    assert found.error is None
    assert (*found.targets, found.option) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = 1;\n  b = nothing;", "Line 2, column 7: there is no variable 'nothing'."),
        ("x = nothing(1)", "Line 1, column 5: there is no function 'nothing'."),
        ('x = 1 + "a"', "Line 1, column 7: '+' isn't defined between a double and a string."),
        ("x = 1 + vec(1)", "Line 1, column 7: '+' isn't defined between a double and a doubleVec."),
        ("x = vec(1, 2) + vec(1)", "Line 1, column 15: '+' needs vectors of one length, not of 2 and 1 values."),
        ("x = avg()", "Line 1, column 5: avg needs at least 1 value, not 0."),
        ("x = time().week", "Line 1, column 12: a timestamp has no member 'week'."),
        ('x = time("soon")', "Line 1, column 5: 'soon' is no time in W3C-DTF or RFC 1123."),
        ('x = "a" ? 1 : 2', "Line 1, column 5: a condition is a double, and not a string."),
        ("x = TimeInterval_Day / 0", "Line 1, column 22: the timeinterval is infinite."),
        ("x = $PendingTasks.GetSample(time())", "a time frame of one or two different times."),
        ("x = $PendingTasks.GetSample(TimeInterval_Hour, 90)", "has 8 % of the samples, and 90 % are required."),
        ("$PendingTasks = 1", "Line 1, column 1: $PendingTasks can't be assigned."),
        ("$TargetDedicatedNodes = -1", "$TargetDedicatedNodes is a number from 0 to 2500, and not -1."),
        ("$TargetDedicatedNodes = 0 / 0", "and not nan."),
        ("$NodeDeallocationOption = 1", "is one of requeue, terminate, taskcompletion, retaineddata."),
    ],
)
def test_a_failed_evaluation_says_why_and_where(text: str, wanted: str) -> None:
    assert problem(text, _MINUTES_5).endswith(wanted)
    assert run(text, (7, 3)).targets == (7, 3)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (" ; // nothing", "Line 1, column 1: the formula is empty."),
        ("x =", "Line 1, column 4: a value is expected instead of the end."),
        ("x = 1 y = 2", "Line 1, column 7: ';' is expected instead of 'y'."),
        ("x = 1;\nz = 5 % 2", "Line 2, column 7: '%' isn't expected here."),
        ("x = time().", "Line 1, column 12: a name is expected instead of the end."),
        ("x = 1 ? 2", "Line 1, column 10: ':' is expected instead of the end."),
        ("x=1;" * 101, "Line 1, column 401: a formula has at most 100 statements."),
    ],
)
def test_an_unreadable_formula_says_why_and_where(text: str, wanted: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parsed(text)
    assert caught.value.sentence(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000 + "1" + ")" * 4000,
        "-" * 4000 + "1",
        "x = " + "1?1:(" * 1000 + "1" + ")" * 1000,
        "x = a" + ".b" * 4000,
        "x = 1 + " + " " * MAX_FORMULA,
        "x" * (MAX_FORMULA + 1),
        "f(" * 3000,
    ],
)
def test_deep_or_long_formulas_are_refused(text: str) -> None:
    with pytest.raises(FormulaSyntaxError):
        parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        "v = vec(1, 2);" + "v = vec(v, v);" * 90,
        "v = $PendingTasks.GetSample(TimeInterval_Day);" + "v = " + "+".join(["v"] * 3500),
        "$PendingTasks.GetSample(TimeInterval_Day);" * 99,
        "t = TimeInterval_Year;" + "t = t * 1000000;" * 90,
    ],
)
def test_a_hostile_formula_ends_after_few_steps(text: str) -> None:
    found = run(text, history=history_of({"$PendingTasks": [1.0] * 2880}))
    assert found.error is not None
    assert found.steps <= 2 * MAX_STEPS
    assert all(len(each) < MAX_STEPS for each in found.variables.values() if isinstance(each, tuple))


def test_long_chains_of_operators_and_choices_are_no_nesting() -> None:
    assert value("+".join(["1"] * 3000)) == 3000
    assert value("".join(f"{hour}==900?{hour}:" for hour in range(400)) + "7") == 7
