"""The rates that have bars don't depend on a host's share of the machine."""

import pytest

from bench.api import PolledLoad
from bench.parts.load import Load

NOTHING = "a function that does nothing"


def asked(requests: int, cpu: float) -> Load:
    """Returns the load of a minute with `requests` requests and `cpu` seconds of the host's CPU in total."""
    return Load([0.01] * requests, requests / 60, cpu / requests)


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_a_rate_by_cpu_is_that_of_a_host_with_a_core_of_its_own(share: float) -> None:
    """Rounds and new answers cost 6 s of CPU a minute for any share; requests cost 10 and 20 ms."""
    got = 60 * share
    polled = PolledLoad({NOTHING: asked(int(got / 0.01), got), "job": asked(int((got - 6) / 0.02), got)}, {"job": 6.0})
    assert polled.by_cpu(NOTHING) == pytest.approx(100)
    assert polled.by_cpu("job") == pytest.approx(45)
