"""Advice on how a pool gets more nodes: by a resize, or only by its autoscale formula.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". Batch refuses to resize a pool that has
a formula, so advice names the formula's result and the line that decides.
"""

import re

from shared.domain.explain.findings import Value
from shared.domain.pools.pools import PoolFacts

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TARGET = re.compile(r"\s*\$Target\w+\s*=(?!=)")
_VARIABLE = re.compile(r"\$[A-Za-z]\w*")
_MADE = re.compile(r"(?:^|;)\s*(\$[A-Za-z]\w*)\s*=(?!=)")
_GIVEN = re.compile(r"\$Target|\$NodeDeallocationOption")
_MAX_LENGTH = 300


def target_of(facts: PoolFacts) -> int | None:
    """Returns the pool's target number of nodes, or None where the service doesn't report it."""
    targets = [size.target for size in (facts.dedicated, facts.spot) if size.target is not None]
    return sum(targets) if targets else None


def larger(facts: PoolFacts) -> str:
    """Returns a clause on how to give the pool more nodes."""
    return "let the pool's autoscale formula give more nodes" if facts.auto_scale else "make the pool larger"


def replaced(facts: PoolFacts) -> str:
    """Returns a sentence on replacing lost nodes; Batch restarts only nodes that are idle or run tasks."""
    after = (
        "the pool's formula brings new ones at its next evaluation"
        if facts.auto_scale
        else "resize the pool to its size again, as removing nodes lowers its target"
    )
    return f"Batch refuses to reboot or reimage such nodes: remove them, and {after}."


def formula_sentences(facts: PoolFacts) -> str:
    """Returns the formula's result, inputs and deciding lines as sentences to append to advice; empty without one."""
    scale = facts.auto_scale
    if scale is None:
        return ""
    variables, lines = _variables(scale.formula or ""), target_lines(scale.formula or "")
    reads = f" It reads {', '.join(variables)}." if variables else ""
    gave = f" Its last evaluation gave {_results(scale.results)}." if scale.results else ""
    places = " and ".join(f"line {number}, '{line}'" for number, line in lines)
    change = f" What decides is {places}." if places else ""
    return f" Batch refuses to resize a pool that has a formula.{gave}{reads}{change}"


def formula_evidence(facts: PoolFacts) -> dict[str, Value]:
    """Returns the formula's result and lines as evidence; empty without a formula."""
    scale = facts.auto_scale
    if scale is None:
        return {}
    return {
        "autoScale": True,
        "evaluatedAt": scale.evaluated_at,
        "results": scale.results,
        "formulaVariables": _variables(scale.formula or ""),
        "formulaLines": tuple(f"{number}: {line}" for number, line in target_lines(scale.formula or "")),
    }


def target_lines(formula: str) -> list[tuple[int, str]]:
    """Returns the statements that set a target, with the numbers of their first lines."""
    plain = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), formula)
    found, line = list[tuple[int, str]](), 1
    for statement in plain.split(";"):
        begins = line + statement[: len(statement) - len(statement.lstrip())].count("\n")
        if _TARGET.match(statement):
            text = " ".join(statement.split())
            found.append((begins, f"{text[:_MAX_LENGTH]}{'…' if len(text) > _MAX_LENGTH else ''};"))
        line += statement.count("\n")
    return found


def _variables(formula: str) -> tuple[str, ...]:
    """Returns the service's variables that a formula reads, without those that it defines itself."""
    plain = _COMMENT.sub(" ", formula)
    made = set(_MADE.findall(plain))
    return tuple(name for name in dict.fromkeys(_VARIABLE.findall(plain)) if not (name in made or _GIVEN.match(name)))


def _results(results: str) -> str:
    return ", ".join(part.strip() for part in results.split(";") if part.strip())
