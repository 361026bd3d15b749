"""Measures of a group against the others, compared with their definitions and published figures."""

from math import comb, exp, isclose, log

import pytest

from shared.domain.contrasts.statistics import (
    Tally,
    difference_bounds,
    hypergeometric_tail,
    normal_tail,
    odds_ratio_bound,
)


def _exact(tally: Tally) -> float:
    rest = tally.all_total - tally.all_failed
    ways = range(tally.failed, min(tally.total, tally.all_failed) + 1)
    return sum(comb(tally.all_failed, at) * comb(rest, tally.total - at) for at in ways) / comb(
        tally.all_total, tally.total
    )


@pytest.mark.parametrize(
    "tally", [Tally(8, 8, 11, 60), Tally(3, 40, 9, 400), Tally(1, 2, 3, 4), Tally(0, 5, 5, 50), Tally(30, 35, 40, 90)]
)
def test_the_tail_is_the_sum_of_all_rarer_draws(tally: Tally) -> None:
    assert isclose(hypergeometric_tail(tally), _exact(tally), rel_tol=1e-9)


def test_the_tail_of_a_million_tasks_needs_no_sum_over_all() -> None:
    assert 0 < hypergeometric_tail(Tally(1_300, 20_000, 50_000, 1_000_000)) < 1e-20


def test_the_gain_is_the_ratio_of_likelihoods() -> None:
    tally = Tally(6, 10, 16, 110)
    two = 0.6**6 * 0.4**4 * 0.1**10 * 0.9**90
    one = (16 / 110) ** 16 * (94 / 110) ** 94
    assert isclose(tally.gain, log(two / one))
    assert Tally(1, 10, 20, 100).gain == 0


def test_bounds_of_a_difference_of_shares_are_newcombes() -> None:
    """Newcombe (1998), example a of method 10: 56 of 70 and 48 of 80."""
    low, high = difference_bounds(Tally(56, 104, 70, 150))
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_the_odds_ratio_has_a_bound_with_zeros_too() -> None:
    assert 1 < odds_ratio_bound(Tally(20, 20, 20, 200)) < 1e4
    expected = exp(log(10.5 * 90.5 / (10.5 * 10.5)) - 1.96 * (2 / 10.5 + 1 / 10.5 + 1 / 90.5) ** 0.5)
    assert isclose(odds_ratio_bound(Tally(10, 20, 20, 120)), expected)


def test_the_normal_tail_of_a_likelihood_ratio() -> None:
    assert isclose(normal_tail(1.6448536**2), 0.05, rel_tol=1e-5)
