"""How much more than by chance outcomes vary between nodes, and between neighbours in order, beside a group's effect.

Tasks on one node, and tasks one after the other, share causes that no attribute shows. Where they do, a group's
likelihood gain is divided by this factor. A few outlying nodes don't count, as they may be causes themselves.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from typing import Any

from shared.domain.contrasts.statistics import Tally

_MIN_CELLS, _MIN_EXPECTED = 5, 1.0
_TRIMMED, _TRIMMED_MEAN = 0.2, 0.44  # the mean of a chi-square without its top fifth
_NOISE = 2.0  # about two standard deviations of that mean, over the root of the cells
_LAGS = 8


def between_nodes(tally: Tally, inside: bytes, failed: bytes, nodes: Sequence[Any]) -> float:
    """Returns the trimmed mean of squared standardized residuals by node, inside and outside the group.

    It is 1 where the mean isn't clearly above that.
    """
    totals, failures = defaultdict[Any, int](int), defaultdict[Any, int](int)
    for node, is_in, has_failed in zip(nodes, inside, failed, strict=True):
        if node is not None:
            totals[node, is_in] += 1
            failures[node, is_in] += has_failed
    squares = list[float]()
    for cell, total in totals.items():
        rate = tally.rate if cell[1] else tally.other_rate
        if total * rate >= _MIN_EXPECTED and rate < 1:
            squares.append((failures[cell] - total * rate) ** 2 / (total * rate * (1 - rate)))
    if len(squares) < _MIN_CELLS:
        return 1.0
    squares.sort()
    kept = squares[: len(squares) - max(1, round(len(squares) * _TRIMMED))]
    found = sum(kept) / len(kept) / _TRIMMED_MEAN
    return found if found > 1 + _NOISE / sqrt(len(kept)) else 1.0


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
