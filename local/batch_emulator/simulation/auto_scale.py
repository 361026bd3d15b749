"""Autoscaling of pools: samples every 30 seconds, evaluations at the pool's interval, and the resulting resizes.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". The first evaluation is immediate; a
failed one changes nothing. Targets that the pool's nodes meet already begin no resize. Samples start when autoscaling
is enabled, and the speed shortens intervals. A restarted emulator continues evaluations, but starts with new samples.
"""

from functools import partial

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import SAMPLE_PERIOD_SECONDS, AutoScaleState, Json, Pool, SampleHistory
from local.batch_emulator.formulas.evaluation import EvaluationContext, EvaluationResult, evaluate
from local.batch_emulator.formulas.scale_samples import Metric, sample_counts
from local.batch_emulator.simulation.pools import MAX_NODES, TARGETS, PoolTransitions
from local.batch_emulator.state.context import SimulationContext

DEFAULT_INTERVAL = "PT15M"
_DEDICATED, _SPOT = TARGETS[True], TARGETS[False]


class AutoScaleRuns:
    def __init__(self, context: SimulationContext, pools: PoolTransitions) -> None:
        self._context = context
        self._pools = pools

    def begin(self, pool: Pool) -> None:
        """Starts evaluations of the pool's formula at its interval; earlier ones end."""
        pool.spec.setdefault("autoScaleEvaluationInterval", DEFAULT_INTERVAL)
        change_log, asked = self._context.change_log, self._context.clock.simulated
        if pool.scaling is None:
            pool.scaling = AutoScaleState(change_log.next_number(), asked)
            self._sample(pool, pool.scaling.number)
        pool.scaling.asked, pool.scaling.turn = asked, change_log.next_number()
        self._evaluate(pool, pool.scaling.turn)

    def end(self, pool: Pool) -> None:
        pool.scaling = None
        self._context.mark_changed(pool, pool.account)

    def evaluate_formula(self, pool: Pool, formula: str) -> EvaluationResult:
        """Evaluates a formula as of now. Raises FormulaSyntaxError."""
        history = pool.scaling.history if pool.scaling else SampleHistory()
        metrics = {name: Metric(name, value, history, self._context) for name, value in sample_counts(pool).items()}
        numbers = {"$TaskSlotsPerNode": float(pool.slots_per_node)}
        context = EvaluationContext(metrics, numbers, self._context.now, self._context.rng, MAX_NODES)
        return evaluate(formula, (_target(pool, _DEDICATED), _target(pool, _SPOT)), context)

    def run_of(self, result: EvaluationResult) -> Json:
        """Returns an evaluation as JSON (AutoScaleRun)."""
        found: Json = {"timestamp": stamp(self._context.now), "results": result.results}
        if result.code:
            values = [{"name": "Message", "value": result.problem}]
            found["error"] = {"code": result.code, "message": result.message, "values": values}
        return found

    def _sample(self, pool: Pool, number: int) -> None:
        if pool.scaling and pool.scaling.number == number and not pool.is_deleted:
            pool.scaling.history.samples.append((self._context.clock.simulated, sample_counts(pool)))
            self._context.event_queue.after(SAMPLE_PERIOD_SECONDS, partial(self._sample, pool, number))

    def _evaluate(self, pool: Pool, turn: int) -> None:
        scaling = pool.scaling
        if scaling is None or scaling.turn != turn or pool.state != "active" or pool.is_deleted:
            return
        result = self.evaluate_formula(pool, str(pool.spec["autoScaleFormula"]))
        scaling.run = self.run_of(result)
        self._context.log.pool("PoolAutoScaleEvent", pool, {"formula": pool.spec["autoScaleFormula"], **scaling.run})
        self._context.mark_changed(pool, pool.account)
        wanted = {_DEDICATED: result.dedicated, _SPOT: result.spot}
        if any(_target(pool, name) != count for name, count in wanted.items()):
            pool.spec |= wanted
            if self._pools.needs_resize(pool):
                self._pools.resize(pool, result.option)
        seconds = seconds_of(pool.spec["autoScaleEvaluationInterval"])
        self._context.event_queue.after(seconds, partial(self._evaluate, pool, turn))


def _target(pool: Pool, name: str) -> int:
    return int(pool.spec.get(name) or 0)
