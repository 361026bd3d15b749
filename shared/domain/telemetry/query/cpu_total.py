"""Total CPU utilization, computed where an agent reports only cores, or only the CPU time that they spent.

collectd reports seconds by core by default; Telegraf reports cores alone with `totalcpu = false`. The total is the
mean, in each mode, of the cores with a value for the step: a core that is offline or late counts from its first value.
Its minimum and maximum are only bounds, as those of the cores may not have coincided.
"""

from collections.abc import Mapping, Sequence

from shared.domain.telemetry.catalog.series import Attributes, Series
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups

UTILIZATION, TIME = "system.cpu.utilization", "system.cpu.time"
CORE = "cpu.logical_number"
_MODE, _IDLE = "cpu.mode", "idle"
_PARTS_OF_OTHERS = frozenset(("guest", "guest_nice"))  # already included in user and nice

type Periods = Mapping[int, Rollup]


def with_cpu_total(rollups: Rollups) -> Rollups:
    """Returns the rollups plus the utilization of cores and of the total in periods without a reported one."""
    found = dict(rollups)
    for series, periods in _shares(rollups).items():
        found[series] = {**periods, **rollups.get(series, {})}
    for series, cores in _cores_by_total(found).items():
        found[series] = {**_means(cores), **found.get(series, {})}
    return found


def is_core(series: Series) -> bool:
    return any(name == CORE for name, _ in series.attributes)


def without_core(series: Series) -> Series:
    """Returns the series of the total that a core's series belongs to."""
    return Series(series.name, _without(series.attributes, CORE))


def _cores_by_total(rollups: Rollups) -> dict[Series, list[Periods]]:
    found: dict[Series, list[Periods]] = {}
    for series, periods in rollups.items():
        if series.name == UTILIZATION and is_core(series):
            found.setdefault(without_core(series), []).append(periods)
    return found


def _means(cores: Sequence[Periods]) -> dict[int, Rollup]:
    return {
        period: _mean([core[period] for core in cores if period in core])
        for period in sorted({period for core in cores for period in core})
    }


def _mean(some: Sequence[Rollup]) -> Rollup:
    """Returns the cores' mean, with the count of the core that has most values."""
    count, last_at = max(one.count for one in some), max(one.last_at for one in some)
    columns = zip(*((one.min, one.max, one.sum / one.count, one.last) for one in some), strict=True)
    low, high, mean, last = (sum(values) / len(some) for values in columns)
    return Rollup(count, low, high, mean * count, last, last_at)


def _shares(rollups: Rollups) -> Rollups:
    """Returns utilization (by core, or total) computed from CPU time: each mode's share of the growth of all modes."""
    by_modes: dict[Attributes, Rollups] = {}
    for series, periods in rollups.items():
        if series.name == TIME and dict(series.attributes).get(_MODE) not in _PARTS_OF_OTHERS:
            by_modes.setdefault(_without(series.attributes, _MODE), {})[series] = periods
    found: Rollups = {}
    for modes in by_modes.values():
        idle = next((periods for series, periods in modes.items() if (_MODE, _IDLE) in series.attributes), {})
        for series, periods in modes.items():
            known = {period: rollup for period, rollup in periods.items() if period in idle}
            found[Series(UTILIZATION, series.attributes)] = _shared(known, list(modes.values()))
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
    """Returns the number of cores: the seconds by which all modes together last grew in one second."""
    return max(1, round(sum(one.last for one in spent)))


def _without(attributes: Attributes, name: str) -> Attributes:
    return tuple(pair for pair in attributes if pair[0] != name)
