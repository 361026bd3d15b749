"""The rates that have bars don't depend on a host's share of the machine."""

import pytest

from bench.api import PolledLoad
from bench.parts.load import Load


def asked(requests: int, cpu: float) -> Load:
    """Returns the load of a minute with `requests` requests and `cpu` seconds of the host's CPU in total."""
    return Load([0.01] * requests, requests / 60, cpu / requests)


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_a_rate_by_cpu_is_that_of_a_host_with_a_core_of_its_own(share: float) -> None:
    """Rounds and new answers cost 6 s of CPU a minute for any share; requests cost 10 and 20 ms."""
    got = 60 * share
    nothing = asked(int(got / 0.01), got)
    polled = PolledLoad(asked(int((got - 6) / 0.02), got), (nothing, nothing), fixed=6.0)
    assert polled.other_by_cpu == pytest.approx(100)
    assert polled.by_cpu == pytest.approx(45)


def test_the_reference_is_the_mean_of_the_minutes_around() -> None:
    polled = PolledLoad(asked(3000, 30), (asked(6000, 60), asked(3000, 60)), fixed=6.0)
    assert polled.other_rate == pytest.approx(75)
    assert polled.other_by_cpu == pytest.approx(75)
