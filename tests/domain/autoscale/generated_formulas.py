"""Formulas by chance, of expressions whose types mostly fit, and samples for their variables."""

from hypothesis import strategies as st

METRICS = ("$PendingTasks", "$ActiveTasks", "$CurrentDedicatedNodes")
_NUMBERS = ("0", "1", "2", "3.5", ".25", "1e2", "7.", "30", "$TaskSlotsPerNode", "a", "$b", *METRICS)
_TARGETS = ("$TargetDedicatedNodes", "$TargetLowPriorityNodes", "$TargetDedicated", "$TargetLowPriority")
_UNITS = ("Zero", "Millisecond", "Second", "Minute", "Hour", "Day", "Week", "Year")
_LISTED = ("avg", "len", "max", "min", "norm", "range", "std", "sum")
_EACH = ("lg", "ln", "log", "round", "ceil", "floor")
_MEMBERS = ("year", "month", "day", "weekday", "hour", "minute", "second")
_TIMES = ('"2026-01-05"', '"2026-01-05T08:29:15Z"', '"Sun, 04 Jan 2026 22:00:00 GMT"')
_JOINED = ("+", "-", "*", "/")
_COMPARED = ("<", "<=", "==", "!=", ">=", ">")


def _text(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda found: form.format(*found))


def _any(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


INTERVALS = st.one_of(
    _text("TimeInterval_{}", _any(*_UNITS)),
    _text("TimeInterval_{} * {}", _any("Second", "Minute"), st.integers(0, 400).map(str)),
    _text("{} * TimeInterval_Minute", st.integers(0, 90).map(str)),
)
TIMESTAMPS = st.one_of(
    _any("time()"),
    _text("time({})", _any(*_TIMES)),
    _text("(time() + -({}))", INTERVALS),
)
_MOMENTS = st.one_of(INTERVALS, INTERVALS, TIMESTAMPS)
_SAMPLES = st.one_of(
    _text("{}.GetSample({})", _any(*METRICS), st.integers(0, 12).map(str)),
    _text("{}.GetSample({})", _any(*METRICS), _MOMENTS),
    _text("{}.GetSample({}, {})", _any(*METRICS), _MOMENTS, _MOMENTS),
    _text("{}.GetSample({}, {})", _any(*METRICS), _MOMENTS, st.integers(0, 100).map(str)),
    _text("{}.GetSample({}, {}, {})", _any(*METRICS), _MOMENTS, _MOMENTS, st.integers(0, 100).map(str)),
)
_ABOUT_SAMPLES = st.one_of(
    _text("{}.GetSamplePercent({})", _any(*METRICS), _MOMENTS),
    _text("{}.GetSamplePercent({}, {})", _any(*METRICS), _MOMENTS, _MOMENTS),
    _text("{}.Count()", _any(*METRICS)),
    _text("({}.HistoryBeginTime() {} {})", _any(*METRICS), _any(*_COMPARED), TIMESTAMPS),
    _text("({}.GetSamplePeriod() {} {})", _any(*METRICS), _any(*_COMPARED), INTERVALS),
)
_OF_TIME = _text("{}.{}", TIMESTAMPS, _any(*_MEMBERS))
_LEAVES = st.one_of(_any(*_NUMBERS, *_TARGETS), _any(*_NUMBERS), _ABOUT_SAMPLES, _OF_TIME)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    vectors = st.one_of(
        _SAMPLES,
        _text("vec({}, {})", inner, inner),
        _text("({} {} {})", _SAMPLES, _any(*_JOINED), inner),
        _text("lg({})", _SAMPLES),
    )
    lists = st.one_of(inner, vectors, _text("{}, {}", vectors, inner), _text("{}, {}", inner, inner))
    return st.one_of(
        _text("{} {} {}", inner, _any(*_JOINED), inner),
        _text("({} {} {})", inner, _any(*_JOINED), inner),
        _text("{} {} {}", inner, _any(*_COMPARED, "&&", "||"), inner),
        _text("({} {} {})", TIMESTAMPS, _any(*_COMPARED), TIMESTAMPS),
        _text("({} - {} {} {})", TIMESTAMPS, TIMESTAMPS, _any(*_COMPARED), INTERVALS),
        _text("({} {} {})", INTERVALS, _any(*_COMPARED), INTERVALS),
        _text("({} ? {} : {})", inner, inner, inner),
        _text("{}{}", _any("-", "!"), inner.map(lambda text: f"({text})")),
        _text("{}({})", _any(*_LISTED), lists),
        _text("{}({})", _any(*_EACH), inner),
        _text("percentile({}, {})", vectors, st.integers(0, 100).map(str)),
        _text("val({}, {})", vectors, st.integers(0, 5).map(str)),
        vectors,
    )


DOUBLES = st.recursive(_LEAVES, _grown, max_leaves=8)
"""Mostly doubles; some are doubleVecs, and some aren't defined."""
_STATEMENTS = st.one_of(
    _text("{} = {}", _any("a", "$b", "c"), DOUBLES),
    _text("{} = {}", _any(*_TARGETS), DOUBLES),
    _text("{} = min(50, max(0, {}))", _any(*_TARGETS), DOUBLES),
    _text("$NodeDeallocationOption = {}", _any("taskcompletion", "requeue", '"terminate"', "1")),
    _any("stop()", "c = rand() < 2", "// nothing\n", "/* a; b */"),
)
FORMULAS = st.lists(_STATEMENTS, min_size=1, max_size=6).map(lambda found: "a = 2;\n$b = 3;\n" + ";\n".join(found))
COUNTS = st.integers(0, 40).map(float)
HISTORIES = st.integers(0, 60).flatmap(
    lambda number: st.fixed_dictionaries({name: st.lists(COUNTS, min_size=number, max_size=number) for name in METRICS})
)
