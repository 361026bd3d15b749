"""Evaluates formulas on a Monday morning, without samples or with given ones."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from shared.domain.autoscale.evaluation import Moment, Outcome, Targets, evaluated
from shared.domain.autoscale.parser import parsed
from shared.domain.autoscale.samples import SampledMetric, SampleHistory
from shared.domain.autoscale.values import Scalar, timestamp_of

NOW = datetime(2026, 1, 5, 8, 30, 15, 250_000, tzinfo=UTC)  # a Monday
NOW_MS = int(NOW.timestamp() * 1000)
PERIOD_MS = 30_000


def history_of(samples: Mapping[str, Sequence[float]], *, newest: int = PERIOD_MS) -> SampleHistory:
    """Returns samples every 30 seconds, the last one `newest` milliseconds old."""
    number = len(next(iter(samples.values()), ()))
    times = [NOW_MS - newest - PERIOD_MS * (number - 1 - at) for at in range(number)]
    return SampleHistory(times, {name: list(values) for name, values in samples.items()})


def run(text: str, targets: tuple[int, int] = (2, 0), history: SampleHistory | None = None) -> Outcome:
    history = history or SampleHistory()
    metrics = {
        name: SampledMetric(name, values[-1] if values else 0.0, history, NOW_MS)
        for name, values in history.values.items()
    }
    moment = Moment(timestamp_of(NOW), metrics, {"$TaskSlotsPerNode": 4.0}, lambda: 0.5)
    return evaluated(parsed(text), Targets(*targets), moment)


def value(expression: str, history: SampleHistory | None = None) -> Scalar:
    """Returns the value of an expression."""
    outcome = run(f"x = {expression};", history=history)
    assert outcome.error is None, outcome.error
    return outcome.variables["x"]


def problem(text: str, history: SampleHistory | None = None) -> str:
    """Returns the sentence of a failed evaluation."""
    outcome = run(text, history=history)
    assert outcome.error is not None
    return outcome.error.sentence(text)
