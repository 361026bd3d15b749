"""Answers how a pool would have scaled by another formula: a replay of its tasks, beside one by its own formula."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.autoscale.formula_errors import FormulaError, FormulaLimitError
from shared.domain.autoscale.parser import parsed
from shared.domain.autoscale.syntax import Formula
from shared.domain.core.stamps import format_stamp, to_milliseconds
from shared.domain.efficiency.scaling.agreement import Agreement, Evaluator, reproduced
from shared.domain.efficiency.scaling.estimates import MAX_STEPS, ScalingEstimate, scaling_estimate
from shared.domain.efficiency.scaling.plans import (
    SeenPool,
    as_recorded,
    evaluated_every,
    plan_of,
    recorded_before_evaluations,
    seen_pool,
)
from shared.domain.efficiency.scaling.recorded_pool import UNKNOWN_VARIABLES, recorded_evaluations
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan
from shared.domain.reports.reports import PoolReport
from shared.domain.schedules.schedules import duration_of
from shared.errors import WhatIfError
from shared.services.efficiency.scaling_evidence import PoolEvidence, ScalingEvidence, evaluation_times
from shared.services.efficiency.scaling_notes import scaling_notes

MAX_RANGE = timedelta(days=7)
MIN_INTERVAL, MAX_INTERVAL = timedelta(minutes=5), timedelta(hours=168)
"""The bounds of an evaluation interval (documented)."""
_DEFAULT_INTERVAL = timedelta(minutes=15)
_MAX_UNSEEN = 0.25
"""The share of a range that polls may have missed: nodes count as seen by the poll before."""
_MILLISECOND, _HOUR = timedelta(milliseconds=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class PoolWhatIf:
    """A formula, its interval and a range; None leaves each as it is, or takes the last seven days."""

    formula: str | None = None
    interval: timedelta | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class PoolWhatIfReport:
    """Replays of a pool, and whether its own formula gives the recorded targets on recorded samples.

    `as_it_was` follows the recorded targets in a pool without a formula. Without replays `reason` says why.
    """

    evidence: PoolEvidence
    interval: timedelta
    seen: SeenPool
    agreement: Agreement | None = None
    as_it_was: ScalingEstimate | None = None
    asked: ScalingEstimate | None = None
    assumptions: Sequence[str] = ()
    reason: str | None = None


class PoolWhatIfQueries:
    def __init__(self, evidence: ScalingEvidence) -> None:
        self._evidence = evidence

    async def of_pool(self, account_id: str, pool_id: str, wanted: PoolWhatIf) -> PoolWhatIfReport:
        """Returns the replays of a pool.

        Raises NotFoundError, WhatIfError, HistoryRangeError, CacheConflictError, StorageError.
        """
        if wanted.interval is not None and not MIN_INTERVAL <= wanted.interval <= MAX_INTERVAL:
            raise WhatIfError("An evaluation interval is a time from PT5M to P7D.", target="interval")
        asked = _parsed(wanted.formula) if wanted.formula is not None else None
        report = await self._evidence.report(account_id, pool_id)
        since, until = _range(report, wanted, self._evidence.earliest(report.now))
        evidence = await self._evidence.of_pool(report, since, until)
        evidence = await self._evidence.with_options(evidence, _followed_until(evidence))
        return await asyncio.to_thread(_answer, evidence, asked, wanted.interval)


def _parsed(text: str) -> Formula:
    try:
        return parsed(text)
    except FormulaError as error:
        raise WhatIfError(error.sentence(text), target="formula") from None


def _range(report: PoolReport, wanted: PoolWhatIf, earliest: datetime) -> tuple[datetime, datetime]:
    """Returns the range to replay; `earliest` is from when on minutes are stored. Raises WhatIfError."""
    until = min(wanted.until or report.now, report.now)
    if wanted.since is None and until <= earliest:
        text = f"Minutes of the pool's history are stored from {format_stamp(earliest)} on: end later."
        raise WhatIfError(text, target="to")
    since = max(wanted.since or max(until - MAX_RANGE, earliest), report.pool.facts.creation_time)
    if until - since > MAX_RANGE:
        raise WhatIfError("A pool is replayed over seven days at most.", target="from")
    if since >= until:
        raise WhatIfError("The range ends before it begins, or before the pool was created.", target="to")
    if since < earliest:
        text = f"Minutes of the pool's history are stored from {format_stamp(earliest)} on: begin later."
        raise WhatIfError(text, target="from")
    return since, until


@dataclass(frozen=True, slots=True)
class _Own:
    """A pool's own formula, its interval, and when it was evaluated; without a formula to replay, `problem` says why.

    A pool that doesn't scale has neither.
    """

    formula: Formula | None
    interval: timedelta
    times: Sequence[int]
    problem: str | None

    @classmethod
    def of(cls, evidence: PoolEvidence) -> "_Own":
        scale, formula, problem = evidence.facts.auto_scale, None, None
        interval = max(duration_of(scale.interval if scale else None) or _DEFAULT_INTERVAL, MIN_INTERVAL)
        if scale and scale.formula:
            try:
                formula = parsed(scale.formula)
                problem = _unknown_samples(formula)
            except FormulaError as error:
                problem = error.sentence(scale.formula)
        formula = None if problem else formula
        return cls(formula, interval, evaluation_times(evidence, interval) if scale else (), problem)


def _followed_until(evidence: PoolEvidence) -> int:
    """Returns until when the replay as it was follows recorded targets, in milliseconds since 1970."""
    own = _Own.of(evidence)
    return own.times[0] if own.formula and own.times else to_milliseconds(evidence.until)


def _answer(evidence: PoolEvidence, asked: Formula | None, interval: timedelta | None) -> PoolWhatIfReport:
    since, until = to_milliseconds(evidence.since), to_milliseconds(evidence.until)
    own, seen = _Own.of(evidence), seen_pool(evidence.record, since, until)
    base = PoolWhatIfReport(evidence, interval or own.interval, seen)
    if reason := _unseen(evidence) or (_unknown_samples(asked) if asked else own.problem):
        return replace(base, reason=reason)
    try:
        return _replayed(base, own, asked, plan_of(evidence.record, since, until, own.times, evidence.start_ups))
    except FormulaLimitError as error:
        raise WhatIfError(f"A replay isn't possible: {error.problem}.", target="formula") from None


def _unseen(evidence: PoolEvidence) -> str | None:
    """Returns a sentence if polls saw too little of the pool to replay it."""
    whole = evidence.until - evidence.since
    if evidence.unseen <= whole * _MAX_UNSEEN:
        return None
    hours, of = (time / _HOUR for time in (evidence.unseen, whole))
    return f"No poll saw the pool for {hours:,.1f} of these {of:,.1f} hours: take a range in which it was polled."


def _unknown_samples(formula: Formula) -> str | None:
    """Returns a sentence on variables whose samples aren't stored, None if the formula reads no such."""
    unknown = [name for name in formula.names if name in UNKNOWN_VARIABLES]
    text = "can't be replayed: no API of Batch shows these samples, so none are stored."
    return f"{' and '.join(unknown)} {text}" if unknown else None


def _replayed(base: PoolWhatIfReport, own: _Own, asked: Formula | None, plan: ScalingPlan) -> PoolWhatIfReport:
    evidence = base.evidence
    seed, start_ups = f"{evidence.facts.key}/{plan.since}", evidence.start_ups
    recorded = (recorded_before_evaluations if own.formula else as_recorded)(plan, evidence.record)
    as_it_was = scaling_estimate(recorded, own.formula, start_ups, seed=seed)
    found = as_it_was
    formula = asked or own.formula
    if formula and (asked or base.interval != own.interval):
        found = scaling_estimate(evaluated_every(plan, base.interval // _MILLISECOND), formula, start_ups, seed=seed)
    misfit = as_it_was.misses(base.seen)
    return replace(
        base,
        agreement=_agreement(evidence, own) if own.formula else None,
        as_it_was=as_it_was,
        asked=found.widened(misfit),
        assumptions=scaling_notes(evidence, recorded, base.seen, misfit, own.problem),
    )


def _agreement(evidence: PoolEvidence, own: _Own) -> Agreement | None:
    """Returns how far the pool's own formula gives the recorded targets, since it last changed."""
    if own.formula is None:
        return None
    recorded = recorded_evaluations(own.times, evidence.stated, evidence.record.nodes)
    evaluator = Evaluator(own.formula, evidence.record.slots, max_steps=MAX_STEPS, seed=evidence.facts.key)
    return reproduced(evaluator, evidence.record, recorded)
