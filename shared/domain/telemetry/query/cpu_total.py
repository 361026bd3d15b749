"""The whole processor's utilization, where an agent tells of its cores alone, or of the time that they spent.

collectd tells of cores in seconds by default, and Telegraf of cores alone with `totalcpu = false`. The whole is the
mean of the cores that told something of a step, in each mode: a core that is off or late counts once it tells. Of its
lowest and highest value only bounds are known, as those of cores may not have met.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.domain.telemetry.catalog.series import Attributes, Series
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups

UTILIZATION, TIME = "system.cpu.utilization", "system.cpu.time"
CORE = "cpu.logical_number"
_MODE, _IDLE = "cpu.mode", "idle"
_PARTS_OF_OTHERS = frozenset(("guest", "guest_nice"))  # which user and nice hold, too

type Periods = Mapping[int, Rollup]


@dataclass(slots=True)
class _Cores:
    """Series that differ in their core alone: those of cores, and that of the whole, if it is told."""

    whole: Periods = field(default_factory=dict)
    each: list[Periods] = field(default_factory=list)


def with_cpu_total(rollups: Rollups) -> Rollups:
    """The same, and the utilization of cores and of the whole in periods in which an agent didn't tell it."""
    found = dict(rollups)
    for series, periods in _shares(rollups).items():
        found[series] = {**periods, **rollups.get(series, {})}
    for series, cores in _by_whole(found).items():
        if cores.each:
            found[series] = {**_means(cores.each), **cores.whole}
    return found


def is_core(series: Series) -> bool:
    return any(name == CORE for name, _ in series.attributes)


def without_core(series: Series) -> Series:
    """The one that has the whole of what a series has of a core."""
    return Series(series.name, _without(series.attributes, CORE))


def _by_whole(rollups: Rollups) -> dict[Series, _Cores]:
    found: dict[Series, _Cores] = {}
    for series, periods in rollups.items():
        if series.name == UTILIZATION:
            cores = found.setdefault(without_core(series), _Cores())
            if is_core(series):
                cores.each.append(periods)
            else:
                cores.whole = periods
    return found


def _means(cores: Sequence[Periods]) -> dict[int, Rollup]:
    return {
        period: _mean([core[period] for core in cores if period in core])
        for period in sorted({period for core in cores for period in core})
    }


def _mean(some: Sequence[Rollup]) -> Rollup:
    """Of as many values as the core that told most."""
    count = max(one.count for one in some)
    return Rollup(
        count,
        _average(one.min for one in some),
        _average(one.max for one in some),
        _average(one.sum / one.count for one in some) * count,
        _average(one.last for one in some),
        max(one.last_at for one in some),
    )


def _average(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _shares(rollups: Rollups) -> Rollups:
    """The utilization by cores, or all together, that their time comes to: what a mode has of all modes' growth."""
    by_modes: dict[Attributes, Rollups] = {}
    for series, periods in rollups.items():
        if series.name == TIME and dict(series.attributes).get(_MODE) not in _PARTS_OF_OTHERS:
            by_modes.setdefault(_without(series.attributes, _MODE), {})[series] = periods
    found: Rollups = {}
    for modes in by_modes.values():
        idle = next((periods for series, periods in modes.items() if (_MODE, _IDLE) in series.attributes), {})
        for series, periods in modes.items():
            told = {period: rollup for period, rollup in periods.items() if period in idle}
            found[Series(UTILIZATION, series.attributes)] = _shared(told, list(modes.values()))
    return {series: periods for series, periods in found.items() if periods}


def _shared(periods: Periods, modes: Sequence[Periods]) -> dict[int, Rollup]:
    found = {}
    for period, rollup in periods.items():
        spent = [mode[period] for mode in modes if period in mode]
        grown = sum(one.sum for one in spent)
        if grown > 0:
            share, rate = rollup.sum / grown, _cores_of(spent)
            low, high, last = (min(value / rate, 1) for value in (rollup.min, rollup.max, rollup.last))
            found[period] = Rollup(
                rollup.count, min(low, share), max(high, share), share * rollup.count, last, rollup.last_at
            )
    return found


def _cores_of(spent: Sequence[Rollup]) -> int:
    """How many seconds passed in one, by what modes together grew by last: as many as there are cores."""
    return max(1, round(sum(one.last for one in spent)))


def _without(attributes: Attributes, name: str) -> Attributes:
    return tuple(pair for pair in attributes if pair[0] != name)
