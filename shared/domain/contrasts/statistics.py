"""Measures of a group of tasks against the others: likelihood gain, exact tail, bounds of effects.

All functions are deterministic and need a few operations, or as many as the tail has terms that count.
"""

from math import erfc, exp, inf, lgamma, log, sqrt
from typing import NamedTuple

_NEGLIGIBLE = 1e-12  # of the sum of a tail
_Z95 = 1.96
_HALF = 0.5  # Haldane's correction of odds with a zero


class Tally(NamedTuple):
    """Failed tasks and all tasks of a group, and the same of all compared tasks, the group's included."""

    failed: int
    total: int
    all_failed: int
    all_total: int

    @property
    def rate(self) -> float:
        return self.failed / self.total if self.total else 0.0

    @property
    def other_rate(self) -> float:
        rest = self.all_total - self.total
        return (self.all_failed - self.failed) / rest if rest else 0.0

    @property
    def excess(self) -> float:
        """The failed tasks beyond those expected at the rate of the others."""
        return self.failed - self.total * self.other_rate

    @property
    def difference(self) -> float:
        """The group's share of the failed tasks less its share of the succeeded ones."""
        succeeded = self.all_total - self.all_failed
        return self.failed / self.all_failed - (self.total - self.failed) / succeeded

    @property
    def gain(self) -> float:
        """How much likelier, as a logarithm, two rates make the outcomes than one rate; 0 for a lower rate inside."""
        if self.rate <= self.other_rate:
            return 0.0
        rest, rest_failed = self.all_total - self.total, self.all_failed - self.failed
        parts = _entropy(self.failed, self.total) + _entropy(rest_failed, rest)
        return max(_entropy(self.all_failed, self.all_total) - parts, 0.0)


def hypergeometric_tail(tally: Tally) -> float:
    """Returns Fisher's exact one-sided p: the chance of so many failed tasks in a group drawn blindly."""
    most = min(tally.total, tally.all_failed)
    term = exp(_log_probability(tally.failed, tally))
    found = 0.0
    for number in range(tally.failed, most + 1):
        found += term
        rest = tally.all_total - tally.all_failed - tally.total + number + 1
        ratio = (tally.all_failed - number) * (tally.total - number) / ((number + 1) * rest) if rest > 0 else 0.0
        term *= ratio
        if ratio < 1 and term < found * _NEGLIGIBLE:
            break
    return min(found, 1.0)


def hypergeometric_terms(tally: Tally) -> list[float]:
    """Returns the chances of 0, 1, 2, … failed tasks in a group drawn blindly."""
    most = min(tally.total, tally.all_failed)
    return [exp(_log_probability(number, tally)) for number in range(most + 1)]


def normal_tail(deviance: float) -> float:
    """Returns the one-sided p of a likelihood ratio (twice the gain) of one degree of freedom."""
    return erfc(sqrt(max(deviance, 0.0) / 2)) / 2


def odds_ratio_bound(tally: Tally) -> float:
    """Returns the lower 95 % bound of the ratio of odds to fail, inside the group to outside (Woolf, Haldane)."""
    cells = [
        tally.failed,
        tally.total - tally.failed,
        tally.all_failed - tally.failed,
        tally.all_total - tally.total - tally.all_failed + tally.failed,
    ]
    inside, inside_good, outside, outside_good = (cell + _HALF for cell in cells)
    spread = sqrt(1 / inside + 1 / inside_good + 1 / outside + 1 / outside_good)
    logarithm = log(inside * outside_good / (inside_good * outside)) - _Z95 * spread
    return exp(logarithm) if logarithm < _MAX_LOG else inf


def difference_bounds(tally: Tally) -> tuple[float, float]:
    """Returns the 95 % bounds of `difference`, by Newcombe's method of two Wilson intervals."""
    succeeded, inside_good = tally.all_total - tally.all_failed, tally.total - tally.failed
    one, (low, high) = tally.failed / tally.all_failed, _wilson(tally.failed, tally.all_failed)
    other, (other_low, other_high) = inside_good / succeeded, _wilson(inside_good, succeeded)
    below, above = (
        sqrt((one - low) ** 2 + (other_high - other) ** 2),
        sqrt((high - one) ** 2 + (other - other_low) ** 2),
    )
    return max(one - other - below, -1.0), min(one - other + above, 1.0)


_MAX_LOG = 700.0


def _wilson(number: int, total: int) -> tuple[float, float]:
    share, square = number / total, _Z95**2
    middle, scale = share + square / (2 * total), 1 + square / total
    width = _Z95 * sqrt(share * (1 - share) / total + square / (4 * total**2))
    return (middle - width) / scale, (middle + width) / scale


def _log_probability(failed: int, tally: Tally) -> float:
    return (
        _log_choose(tally.all_failed, failed)
        + _log_choose(tally.all_total - tally.all_failed, tally.total - failed)
        - _log_choose(tally.all_total, tally.total)
    )


def _log_choose(number: int, chosen: int) -> float:
    if not 0 <= chosen <= number:
        return -inf
    return lgamma(number + 1) - lgamma(chosen + 1) - lgamma(number - chosen + 1)


def _entropy(failed: int, total: int) -> float:
    """Returns the negative logarithm of the likelihood of outcomes at their own rate."""
    if not 0 < failed < total:
        return 0.0
    return -failed * log(failed / total) - (total - failed) * log(1 - failed / total)
