"""The app's evaluator of formulas against the emulator's, which was written apart from it."""

import math
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.entities import SampleHistory as EmulatedHistory
from local.batch_emulator.formulas.evaluation import EvaluationContext, EvaluationResult, evaluate
from local.batch_emulator.formulas.scale_samples import Metric
from local.batch_emulator.formulas.syntax import FormulaSyntaxError as EmulatedSyntaxError
from local.batch_emulator.state.change_log import ChangeLog
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.event_log import EventLog
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.state.usage_log import UsageLog
from shared.domain.autoscale.evaluation import MAX_TARGET, Outcome
from shared.domain.autoscale.formula_errors import FormulaSyntaxError
from shared.domain.autoscale.samples import SampleHistory
from shared.domain.efficiency.replay.draws import Draws
from tests.domain.autoscale.evaluating import NOW_MS, history_of, run
from tests.domain.autoscale.generated_formulas import FORMULAS, HISTORIES
from tests.profiles import deep_examples

_TICKS = 10_000  # of a millisecond
_TARGETS = st.tuples(st.integers(0, 30), st.integers(0, 30))


@settings(max_examples=deep_examples(), deadline=None)
@given(formula=FORMULAS, targets=_TARGETS, samples=HISTORIES, newest=st.sampled_from([4, 30_000, 61_000]))
def test_both_evaluators_give_generated_formulas_the_same_results(
    formula: str, targets: tuple[int, int], samples: Mapping[str, list[float]], newest: int
) -> None:
    history = history_of(samples, newest=newest)
    theirs, ours = _emulated(formula, targets, history), _ours(formula, targets, history)
    if theirs is None or ours is None:
        assert (theirs is None, ours is None) == (True, True)
        return
    assert (ours.error is not None) == (theirs.code is not None), (ours.error, theirs.problem)
    if ours.error is None:
        assert (*ours.targets, ours.option) == (theirs.dedicated, theirs.spot, theirs.option)
        assert _are_close(ours, _variables(theirs))


def _ours(formula: str, targets: tuple[int, int], history: SampleHistory) -> Outcome | None:
    try:
        return run(formula, targets, history)
    except FormulaSyntaxError:
        return None


def _emulated(formula: str, targets: tuple[int, int], history: SampleHistory) -> EvaluationResult | None:
    clock, changes = Clock(stepped=True, start=NOW_MS * _TICKS), ChangeLog()
    context = SimulationContext(
        clock,
        EventQueue(clock, 1.0, changes),
        EmulatorSettings(),
        changes,
        Draws(1),
        EventLog("demo", clock, "1"),
        UsageLog(clock.now),
    )
    samples = EmulatedHistory()
    for at, time in enumerate(history.times):
        samples.samples.append((time * _TICKS, {name: values[at] for name, values in history.values.items()}))
    metrics = {
        name: Metric(name, values[-1] if values else 0.0, samples, context) for name, values in history.values.items()
    }
    numbers = {"$TaskSlotsPerNode": 4.0}
    try:
        return evaluate(formula, targets, EvaluationContext(metrics, numbers, clock.now, Draws(1), MAX_TARGET))
    except EmulatedSyntaxError:
        return None


def _variables(result: EvaluationResult) -> Mapping[str, str]:
    return dict(part.split("=", 1) for part in result.results.split(";"))


def _are_close(ours: Outcome, theirs: Mapping[str, str]) -> bool:
    own = {name: value for name, value in ours.variables.items() if not name.startswith(("$Target", "$Node"))}
    return all(_is_close(value, theirs[name]) for name, value in own.items())


def _is_close(value: object, text: str) -> bool:
    if isinstance(value, tuple):
        values: Sequence[float] = value
        texts = [part for part in text.strip("[]").split(",") if part]
        return len(values) == len(texts) and all(map(_is_close, values, texts))
    if not isinstance(value, float):
        return False
    other = float(text)
    return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(value) and math.isnan(other))
