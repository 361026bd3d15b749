"""All rules over a checkout's infrastructure, by name; each gives a sentence for every fault that it finds."""

from collections.abc import Callable, Collection, Iterator, Mapping
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

_MODULES = (expectations, access, resources, pipeline, names, settings, wiring, parameters, commands, tools, scripts)
RULES: Mapping[str, Rule] = {rule.__name__: rule for module in _MODULES for rule in module.RULES}
"""Every rule by its name; those that start programs are last."""
TABLES = frozenset(rule.__name__ for rule in expectations.RULES)
"""The rules that compare with tables: they notice nearly any change, and renewing a table ends that."""


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


def first_fault(root: Path, without: Collection[str] = ()) -> str | None:
    """The first fault that any rule finds, but for those rules that are to be left out."""
    infrastructure = Infrastructure(root)
    rules = (rule for rule in RULES if rule not in without)
    return next((sentence for rule in rules for sentence in faults_of(rule, infrastructure)), None)
