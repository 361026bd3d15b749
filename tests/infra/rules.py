"""All rules over a checkout's infrastructure, by name; each gives a sentence for every fault that it finds."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path

from yaml import YAMLError

from tests.infra import (
    rules_access,
    rules_commands,
    rules_flex,
    rules_names,
    rules_network,
    rules_parameters,
    rules_pipeline,
    rules_properties,
    rules_resources,
    rules_scripts,
    rules_settings,
    rules_tools,
    rules_wiring,
)
from tests.infra.bicep_syntax import BicepError
from tests.infra.scenarios import Infrastructure, Scenario

type Rule = Callable[[Infrastructure], Iterator[str]]


def _of_scenarios(rule: Callable[[Scenario], Iterator[str]]) -> Rule:
    @wraps(rule)
    def run(infrastructure: Infrastructure) -> Iterator[str]:
        for scenario in infrastructure.scenarios:
            yield from (f"with {scenario.name}: {fault}" for fault in rule(scenario))

    return run


_SCENARIO_RULES = (
    *rules_access.SCENARIO_RULES,
    *rules_flex.SCENARIO_RULES,
    *rules_settings.SCENARIO_RULES,
    *rules_network.SCENARIO_RULES,
    *rules_wiring.SCENARIO_RULES,
)
RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        *rules_resources.RULES,
        *rules_properties.RULES,
        *rules_names.RULES,
        *map(_of_scenarios, _SCENARIO_RULES),
        *rules_access.RULES,
        *rules_wiring.RULES,
        *rules_pipeline.RULES,
        *rules_commands.RULES,
        *rules_tools.RULES,
        *rules_parameters.RULES,
        rules_tools.linted,
        *rules_scripts.RULES,
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
