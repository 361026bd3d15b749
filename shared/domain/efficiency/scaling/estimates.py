"""Several replays of a pool: one with usual start-ups and runs as long as seen, and others in which both vary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from shared.domain.autoscale.syntax import Formula
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.estimates import Spread
from shared.domain.efficiency.scaling.agreement import Evaluator
from shared.domain.efficiency.scaling.plans import SeenPool, varied
from shared.domain.efficiency.scaling.pool_replay import ScalingTimes, replayed_pool
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan

MAX_STEPS = 3_000_000
"""The most steps of all evaluations of a formula."""
_REPLAYS = 4  # beside the first
_MAX_TASKS = 60_000  # in all of them
_MIN_MARGIN = 0.01  # of the expected figure


class Misfit(NamedTuple):
    """How far a replay is from what was seen: a share of the time of nodes, and milliseconds of the mean wait."""

    nodes: float
    mean_wait: float


@dataclass(frozen=True, slots=True)
class ScalingEstimate:
    """How a pool would have scaled; milliseconds of dedicated and spot nodes, and of the mean wait of tasks.

    `times` are those of the replay with usual start-ups. `failed` of its `evaluations` changed nothing, and `error` is
    the first one's sentence.
    """

    times: ScalingTimes
    dedicated: Spread
    spot: Spread
    mean_wait: Spread
    replays: int
    evaluations: int = 0
    failed: int = 0
    error: str | None = None

    @property
    def nodes(self) -> Spread:
        return Spread(*(one + other for one, other in zip(self.dedicated, self.spot, strict=True)))

    def misses(self, seen: SeenPool) -> Misfit:
        """Returns how far it is from what was seen; without nodes or tasks then not at all."""
        nodes = abs(self.nodes.expected / seen.nodes - 1) if seen.nodes else 0.0
        return Misfit(nodes, 0.0 if seen.mean_wait is None else abs(self.mean_wait.expected - seen.mean_wait))

    def widened(self, misfit: Misfit) -> "ScalingEstimate":
        """Returns the estimate with spreads that reach as far as the replay as it was misses what was seen."""
        return replace(
            self,
            dedicated=self.dedicated.widened(misfit.nodes),
            spot=self.spot.widened(misfit.nodes),
            mean_wait=self.mean_wait.within(misfit.mean_wait),
        )


def scaling_estimate(
    plan: ScalingPlan, formula: Formula | None, start_ups: Sequence[int], *, seed: str
) -> ScalingEstimate:
    """Returns the estimate of a formula, or of the targets that the plan has without one. Raises FormulaLimitError."""
    first = Evaluator(formula, plan.slots, max_steps=MAX_STEPS, seed=seed) if formula else None
    times = replayed_pool(plan, first, Draws(seed))
    found, used = [times], MAX_STEPS - first.steps if first else 0
    more = min(_REPLAYS, _MAX_TASKS // (len(plan.tasks) + 1), MAX_STEPS // (used + 1) - 1)
    for number in range(more):
        chance = Draws(f"{seed}/{number}")
        other = Evaluator(formula, plan.slots, max_steps=MAX_STEPS, seed=seed) if formula else None
        found.append(replayed_pool(varied(plan, start_ups, chance), other, chance))
    return ScalingEstimate(
        times=times,
        dedicated=_spread(found, lambda one: one.dedicated),
        spot=_spread(found, lambda one: one.spot),
        mean_wait=_spread(found, lambda one: one.waited / one.tasks if one.tasks else 0.0),
        replays=len(found),
        evaluations=first.evaluations if first else 0,
        failed=first.failed if first else 0,
        error=first.error if first else None,
    )


def _spread(found: Sequence[ScalingTimes], figure: Callable[[ScalingTimes], float]) -> Spread:
    values = [figure(one) for one in found]
    return Spread(values[0], min(values), max(values)).widened(_MIN_MARGIN)
