"""Evaluates a formula on a pool's recorded samples, and compares it with the targets that the pool had."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.autoscale.evaluation import Moment, Outcome, Targets, evaluated
from shared.domain.autoscale.formula_errors import FormulaLimitError
from shared.domain.autoscale.samples import SampledMetric, SampleHistory
from shared.domain.autoscale.syntax import Formula
from shared.domain.autoscale.values import SECOND, Timestamp
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.scaling.recorded_pool import (
    DAY,
    NODE_VARIABLES,
    SLOTS,
    TASK_VARIABLES,
    RecordedEvaluation,
    RecordedPool,
)

_TICKS = SECOND // 1000  # of a millisecond


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many `evaluations` have recorded targets, in how many of them the replay's are `equal`, and the others.

    `mean_difference` is that of numbers of nodes, over all of these evaluations. `failed` evaluations changed nothing;
    `error` is the first one's sentence.
    """

    evaluations: int
    equal: int
    mean_difference: float
    failed: int
    error: str | None
    differences: Sequence[tuple[int, Targets, Targets]] = ()

    @property
    def share(self) -> float | None:
        return self.equal / self.evaluations if self.evaluations else None


class Evaluator:
    """Evaluates one formula at several times, within a budget of steps for all of them."""

    def __init__(self, formula: Formula, slots: int, *, max_steps: int, seed: str) -> None:
        self._formula = formula
        self._numbers = {SLOTS: float(slots)}
        self._chance = Draws(seed)
        self.steps = max_steps
        self.evaluations = 0
        self.failed = 0
        self.error: str | None = None

    def at(self, now: int, targets: Targets, history: SampleHistory, latest: dict[str, float]) -> Outcome:
        """Returns the outcome at a time. Raises FormulaLimitError beyond the budget."""
        metrics = {
            name: SampledMetric(name, latest.get(name, 0.0), history, now)
            for name in (*TASK_VARIABLES, *NODE_VARIABLES)
        }
        moment = Moment(Timestamp(now * _TICKS), metrics, self._numbers, self._chance.random)
        found = evaluated(self._formula, targets, moment, max_steps=self.steps)
        if isinstance(found.error, FormulaLimitError):
            raise found.error
        self.steps -= found.steps
        self.evaluations += 1
        if found.error:
            self.failed += 1
            self.error = self.error or found.error.sentence(self._formula.text)
        return found


def reproduced(
    evaluator: Evaluator, pool: RecordedPool, evaluations: Sequence[RecordedEvaluation], *, most_shown: int = 20
) -> Agreement:
    """Returns how far a formula reproduces recorded targets from recorded samples. Raises FormulaLimitError."""
    compared = [one for one in evaluations if one.after is not None]
    if not compared:
        return Agreement(0, 0, 0.0, 0, None)
    history = pool.samples(compared[0].at - DAY, compared[-1].at)
    latest = pool.counts_at([one.at for one in compared])
    equal = distance = 0
    differences = list[tuple[int, Targets, Targets]]()
    for number, one in enumerate(compared):
        counts = {name: values[number] for name, values in latest.values.items()}
        found = evaluator.at(one.at, one.before, history, counts).targets
        seen = one.after or one.before
        off = abs(found.dedicated - seen.dedicated) + abs(found.spot - seen.spot)
        equal += not off
        distance += off
        if off and len(differences) < most_shown:
            differences.append((one.at, seen, found))
    number = len(compared)
    return Agreement(number, equal, distance / number, evaluator.failed, evaluator.error, differences)
