"""Autoscaling of pools: samples every 30 seconds, evaluations at the pool's interval, and the resulting resizes.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". The first evaluation is immediate; a
failed one changes nothing. Samples start when autoscaling is enabled, and the speed shortens intervals. A restarted
emulator continues evaluations, but starts with new samples.
"""

from dataclasses import dataclass, field
from functools import partial

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Json, Pool
from local.batch_emulator.formulas.evaluation import Outcome, Surroundings, evaluate
from local.batch_emulator.formulas.scale_samples import PERIOD_SECONDS, History, Metric, counts
from local.batch_emulator.simulation.pools import MAX_NODES, TARGETS, PoolLife
from local.batch_emulator.state.context import SimulationContext

DEFAULT_INTERVAL = "PT15M"
_DEDICATED, _SPOT = TARGETS[True], TARGETS[False]


@dataclass(slots=True, eq=False)
class AutoScaleState:
    """A pool's autoscaling: when it was requested, in simulated ticks, the last run as JSON, and the samples.

    `turn` is unique to each schedule of evaluations, so that an overtaken one does nothing.
    """

    number: int
    asked: int
    turn: int = 0
    run: Json | None = None
    history: History = field(default_factory=History)


class AutoScale:
    def __init__(self, context: SimulationContext, pools: PoolLife) -> None:
        self._context = context
        self._pools = pools

    def begin(self, pool: Pool) -> None:
        """Starts with the formula and interval in the pool's specification; ends an earlier schedule."""
        pool.spec.setdefault("autoScaleEvaluationInterval", DEFAULT_INTERVAL)
        change_log, asked = self._context.change_log, self._context.clock.simulated
        if pool.scaling is None:
            pool.scaling = AutoScaleState(change_log.number(), asked)
            self._sample(pool, pool.scaling.number)
        pool.scaling.asked, pool.scaling.turn = asked, change_log.number()
        self._evaluate(pool, pool.scaling.turn)

    def end(self, pool: Pool) -> None:
        pool.scaling = None
        self._context.note(pool, pool.account)

    def evaluated(self, pool: Pool, formula: str) -> Outcome:
        """Evaluates a formula as of now. Raises SyntaxProblemError."""
        history = pool.scaling.history if pool.scaling else History()
        metrics = {name: Metric(name, value, history, self._context) for name, value in counts(pool).items()}
        numbers = {"$TaskSlotsPerNode": float(pool.slots_per_node)}
        around = Surroundings(metrics, numbers, self._context.now, self._context.rng, MAX_NODES)
        return evaluate(formula, (_target(pool, _DEDICATED), _target(pool, _SPOT)), around)

    def run_of(self, outcome: Outcome) -> Json:
        """Returns an evaluation as JSON (AutoScaleRun)."""
        found: Json = {"timestamp": stamp(self._context.now), "results": outcome.results}
        if outcome.code:
            values = [{"name": "Message", "value": outcome.problem}]
            found["error"] = {"code": outcome.code, "message": outcome.message, "values": values}
        return found

    def _sample(self, pool: Pool, number: int) -> None:
        if pool.scaling and pool.scaling.number == number and not pool.is_deleted:
            pool.scaling.history.take(self._context, pool)
            self._context.event_queue.after(PERIOD_SECONDS, partial(self._sample, pool, number))

    def _evaluate(self, pool: Pool, turn: int) -> None:
        scaling = pool.scaling
        if scaling is None or scaling.turn != turn or pool.state != "active" or pool.is_deleted:
            return
        outcome = self.evaluated(pool, str(pool.spec["autoScaleFormula"]))
        scaling.run = self.run_of(outcome)
        self._context.log.pool("PoolAutoScaleEvent", pool, {"formula": pool.spec["autoScaleFormula"], **scaling.run})
        self._context.note(pool, pool.account)
        wanted = {_DEDICATED: outcome.dedicated, _SPOT: outcome.spot}
        if any(_target(pool, name) != count for name, count in wanted.items()):
            pool.spec |= wanted
            self._pools.resize(pool, outcome.option)
        seconds = seconds_of(pool.spec["autoScaleEvaluationInterval"])
        self._context.event_queue.after(seconds, partial(self._evaluate, pool, turn))


def _target(pool: Pool, name: str) -> int:
    return int(pool.spec.get(name) or 0)
