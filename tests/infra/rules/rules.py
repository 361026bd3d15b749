"""All rules over a checkout's infrastructure, by name; each gives a sentence for every fault that it finds."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from yaml import YAMLError

from tests.infra.bicep.syntax import BicepError
from tests.infra.rules import (
    access,
    commands,
    expectations,
    names,
    parameters,
    pipeline,
    resources,
    scripts,
    settings,
    tools,
    wiring,
)
from tests.infra.rules.scenarios import Infrastructure

type Rule = Callable[[Infrastructure], Iterator[str]]

_MODULES = (expectations, names, access, settings, wiring, resources, pipeline, parameters, commands, tools, scripts)
RULES: Mapping[str, Rule] = {rule.__name__: rule for module in _MODULES for rule in module.RULES}
"""Every rule by its name; those that start programs are last."""


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
