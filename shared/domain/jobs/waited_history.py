"""How long tasks on a pool waited by cause, over time: samples of totals that only grow, beside those of the pool.

Each pass over waiting jobs makes one, in the rows of the pool's history. A step's numbers are differences of totals. So
they are exact though a process dies, and though samples between aren't kept. A pass counts in the step in which it
was, also the time before it. Nothing is spread over steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

import msgspec

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, HistoryRetention
from shared.domain.history.points import Series
from shared.domain.history.samples import Columns, Sample, rows_of
from shared.domain.jobs.job_counters import NO_POOL
from shared.domain.jobs.waiting_causes import MAX_GAP, ByCause, WaitingCauses

GRAINS = replace(MINUTES, slot_letter="w"), replace(QUARTERS, slot_letter="w")
"""Their columns in rows of an hour and of a day."""
_MILLISECOND = timedelta(milliseconds=1)


class Waited(NamedTuple):
    """Milliseconds waited by cause over all tasks, counted since then, in milliseconds since 1970; 0: from before."""

    since: int
    by_cause: ByCause


type WaitedSample = Sample[Waited]
decode_waited = msgspec.json.Decoder(Sample[Waited]).decode


def waited_samples(causes: WaitingCauses, pool: str) -> list[WaitedSample]:
    """Returns a pool's samples of the last two passes, in order, as far as there are any; none for NO_POOL."""
    if causes.at is None or pool == NO_POOL or pool not in causes.waited:
        return []
    since, total, added = causes.since.get(pool, 0), causes.waited[pool], causes.added.get(pool, {})
    last = to_milliseconds(causes.at)
    samples = [Sample(last, last, exact=True, numbers=Waited(since, total))]
    if causes.previous and since < (at := to_milliseconds(causes.previous)):
        earlier = {cause: rest for cause, number in total.items() if (rest := number - added.get(cause, 0))}
        samples.insert(0, Sample(at, at, exact=True, numbers=Waited(since, earlier)))
    return samples


def waited_rows(
    before: WaitingCauses, after: WaitingCauses, retention: HistoryRetention
) -> dict[str, dict[str, Columns]]:
    """Returns the columns to merge into histories, by pool and row key, before the causes `after` a pass are stored.

    They are those of the last pass but one, which the last ended: nothing of the pass itself, which may fail. Of a pool
    that is gone they are all that there are.
    """
    found: dict[str, dict[str, Columns]] = {}
    for pool in before.waited.keys() - {NO_POOL}:
        samples = waited_samples(before, pool)
        ended, last = (samples[:-1], samples[-1]) if pool in after.waited else (samples, None)
        if ended:
            found[pool] = rows_of(ended, last, retention, GRAINS)
    return found


def waited_in(series: Series, samples: Sequence[WaitedSample]) -> Iterator[ByCause | None]:
    """Yields milliseconds waited by cause in each step of a series, None where no pass covers the step.

    `samples` are in order, with the last one before the series where there is one.
    """
    step, lag = series.step // _MILLISECOND, max(series.step, MAX_GAP) // _MILLISECOND
    passes = list(_passes(samples))
    at, begin = 0, next(iter(series.ends()), 0) - step
    if samples and samples[0].at > begin and samples[0].numbers.since < begin:
        passes[0] = samples[0].at, None
    for end in series.ends():
        while at < len(passes) and passes[at][0] <= end - step:
            at += 1
        first = at
        while at < len(passes) and passes[at][0] <= end:
            at += 1
        is_covered = at > 0 and passes[at - 1][0] > end - lag
        yield _sum([more for _, more in passes[first:at]]) if is_covered else None


def _passes(samples: Sequence[WaitedSample]) -> Iterator[tuple[int, ByCause | None]]:
    """Yields the time of each sample, and what it adds to the one before; the first adds all.

    None where an earlier version, which doesn't keep since when totals count, stored them in between.
    """
    for sample in samples[:1]:
        yield sample.at, sample.numbers.by_cause
    for before, after in pairwise(samples):
        is_same = before.numbers.since == after.numbers.since
        if not is_same and not after.numbers.since:
            yield after.at, None
            continue
        earlier = before.numbers.by_cause if is_same else {}
        more = {cause: total - earlier.get(cause, 0) for cause, total in after.numbers.by_cause.items()}
        yield after.at, {cause: number for cause, number in more.items() if number}


def _sum(many: Sequence[ByCause | None]) -> ByCause | None:
    sums: dict[str, int] = {}
    for one in many:
        if one is None:
            return None
        for cause, number in one.items():
            sums[cause] = sums.get(cause, 0) + number
    return dict(sorted(sums.items()))
