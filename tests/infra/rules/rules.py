"""All rules over a checkout's infrastructure, by name; each gives a sentence for every fault that it finds."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path

from yaml import YAMLError

from tests.infra.bicep.syntax import BicepError
from tests.infra.rules import (
    access,
    commands,
    flex,
    names,
    network,
    parameters,
    pipeline,
    properties,
    resources,
    scripts,
    settings,
    tools,
    wiring,
)
from tests.infra.rules.scenarios import Infrastructure, Scenario

type Rule = Callable[[Infrastructure], Iterator[str]]


def _of_scenarios(rule: Callable[[Scenario], Iterator[str]]) -> Rule:
    @wraps(rule)
    def run(infrastructure: Infrastructure) -> Iterator[str]:
        for scenario in infrastructure.scenarios:
            yield from (f"with {scenario.name}: {fault}" for fault in rule(scenario))

    return run


_SCENARIO_RULES = (
    *access.SCENARIO_RULES,
    *flex.SCENARIO_RULES,
    *settings.SCENARIO_RULES,
    *network.SCENARIO_RULES,
    *wiring.SCENARIO_RULES,
)
RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        *resources.RULES,
        *properties.RULES,
        *names.RULES,
        *map(_of_scenarios, _SCENARIO_RULES),
        *access.RULES,
        *wiring.RULES,
        *pipeline.RULES,
        *commands.RULES,
        *tools.RULES,
        *parameters.RULES,
        tools.linted,
        *scripts.RULES,
    )
}


def faults_of(rule: str, infrastructure: Infrastructure) -> list[str]:
    """What a rule finds; that a file can't be worked out, or lacks what the rule looks for, is a fault as well."""
    try:
        return list(RULES[rule](infrastructure))
    except BicepError as error:
        return [str(error)]
    except (LookupError, OSError, YAMLError, TypeError, ValueError, AttributeError) as error:
        return [f"{rule} doesn't find what it looks for: {type(error).__name__}: {error}"]


def faults(root: Path) -> dict[str, list[str]]:
    """Faults by rule; rules without any are left out."""
    infrastructure = Infrastructure(root)
    found = {rule: faults_of(rule, infrastructure) for rule in RULES}
    return {rule: sentences for rule, sentences in found.items() if sentences}


def first_fault(root: Path) -> str | None:
    """The first fault that any rule finds."""
    infrastructure = Infrastructure(root)
    return next((sentence for rule in RULES for sentence in faults_of(rule, infrastructure)), None)
