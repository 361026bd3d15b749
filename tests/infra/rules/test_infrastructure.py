"""Every rule over this checkout's infrastructure, each by its name, and the checker where there is one."""

import pytest

from local.dev.system.checkout import HERE
from tests.infra.rules.rules import RULES, faults_of
from tests.infra.rules.scenarios import Infrastructure


@pytest.fixture(scope="module")
def infrastructure() -> Infrastructure:
    return Infrastructure(HERE.root)


@pytest.mark.parametrize("rule", RULES)
def test_the_infrastructure_keeps_the_rule(infrastructure: Infrastructure, rule: str) -> None:
    assert faults_of(rule, infrastructure) == []
