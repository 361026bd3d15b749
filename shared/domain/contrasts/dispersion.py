"""How much more than by chance outcomes vary between nodes, and between neighbours in order, beside a group's effect.

Tasks on one node, and tasks one after the other, share causes that no attribute shows. Where they do, a group's
likelihood gain is divided by this factor. A few outlying nodes don't count, as they may be causes themselves.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from shared.domain.contrasts.statistics import Tally

_MIN_CELLS, _MIN_EXPECTED = 5, 1.0
_TRIMMED, _TRIMMED_MEAN = 0.2, 0.44  # the mean of a chi-square without its top fifth
_NOISE = 2.0  # about two standard deviations of that mean, over the root of the cells
_LAGS = 8
_CERTAIN = 1e-9

type _Cell = tuple[Any, int]


def between_nodes(
    tally: Tally, inside: bytes, failed: bytes, nodes: Sequence[Any], values: Sequence[Any] | None = None
) -> float:
    """Returns the trimmed mean of squared standardized residuals by node, inside and outside the group.

    The rate outside is that of the cells that stay, too, as outlying nodes would raise it for all others.

    With `values` of an attribute, the residuals are those from the rates of its values, for as many degrees of freedom
    as that leaves: another value may be a cause, too, and doesn't count as a difference between nodes. The result is 1
    where the mean isn't clearly above that.
    """
    spent, rates = 0, [tally.rate if is_in else tally.other_rate for is_in in inside]
    if values is not None:
        active = [at for at, node in enumerate(nodes) if node is not None]
        spent = max(len({values[at] for at in active}) - 2, 0)
        if len({nodes[at] for at in active}) - spent >= _MIN_CELLS:
            rates = _rates(values, failed, active)
        else:
            spent = 0
    squares = _squares(rates, inside, failed, nodes)
    if not spent:
        rates = _centred(rates, inside, failed, nodes, squares)
        squares = _squares(rates, inside, failed, nodes)
    if len(squares) - spent < _MIN_CELLS:
        return 1.0
    kept = [squares[cell] for cell in _kept(squares)]
    found = sum(kept) / len(kept) / _TRIMMED_MEAN * len(squares) / (len(squares) - spent)
    return found if found > 1 + _NOISE / sqrt(len(kept)) else 1.0


def _rates(values: Sequence[Any], failed: bytes, active: Sequence[int]) -> list[float]:
    """Returns the rate of its value for each active row, 0 for the others."""
    totals, failures = defaultdict[Any, int](int), defaultdict[Any, int](int)
    for at in active:
        totals[values[at]] += 1
        failures[values[at]] += failed[at]
    return [failures[value] / totals[value] if totals[value] else 0.0 for value in values]


def _squares(rates: Sequence[float], inside: bytes, failed: bytes, nodes: Sequence[Any]) -> dict[_Cell, float]:
    """Returns the squared standardized residual of each node, inside and outside, with enough expected failures."""
    expected, variances, failures = (defaultdict[_Cell, float](float) for _ in range(3))
    for node, is_in, has_failed, rate in zip(nodes, inside, failed, rates, strict=True):
        if node is not None:
            cell = node, is_in
            expected[cell] += rate
            variances[cell] += rate * (1 - rate)
            failures[cell] += has_failed
    return {
        cell: (failures[cell] - number) ** 2 / variances[cell]
        for cell, number in expected.items()
        if number >= _MIN_EXPECTED and variances[cell] > _CERTAIN
    }


def _kept(squares: Mapping[_Cell, float]) -> list[_Cell]:
    """Returns the cells without those of the largest squares."""
    ordered = sorted(squares, key=squares.__getitem__)
    return ordered[: len(ordered) - max(1, round(len(ordered) * _TRIMMED))]


def _centred(
    rates: Sequence[float], inside: bytes, failed: bytes, nodes: Sequence[Any], squares: Mapping[_Cell, float]
) -> list[float]:
    """Returns the rates with that outside the group as the tasks of the kept cells have it."""
    kept = set(_kept(squares))
    rows = [at for at, cell in enumerate(zip(nodes, inside, strict=True)) if cell in kept and not cell[1]]
    if not rows:
        return list(rates)
    rate = sum(failed[at] for at in rows) / len(rows)
    return [own if is_in else rate for own, is_in in zip(rates, inside, strict=True)]


def between_neighbours(tally: Tally, inside: bytes, failed: bytes, order: Sequence[int]) -> float:
    """Returns the variance inflation of sums over adjacent rows, from correlations of residuals; at least 1."""
    rates = (tally.other_rate, tally.rate)
    residuals = [failed[at] - rates[inside[at]] for at in order]
    whole = sum(one * one for one in residuals)
    if not whole:
        return 1.0
    noise, found = _NOISE / sqrt(len(residuals)), 1.0
    for lag in range(1, _LAGS + 1):
        correlation = sum(map(float.__mul__, residuals, residuals[lag:])) / whole
        if correlation <= noise:
            break
        found += 2 * correlation
    return found
