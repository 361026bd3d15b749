"""How a pool gets more nodes: by a resize, or by its autoscale formula alone.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". Batch refuses to resize a pool that has
a formula, so advice names what the formula gave and the line that decides.
"""

import re

from shared.domain.explain.findings import Value
from shared.domain.pools.pools import PoolFacts

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TARGET = re.compile(r"\s*\$Target\w+\s*=(?!=)")
_VARIABLE = re.compile(r"\$[A-Za-z]\w*")
_MADE = re.compile(r"(?:^|;)\s*(\$[A-Za-z]\w*)\s*=(?!=)")
_GIVEN = re.compile(r"\$Target|\$NodeDeallocationOption")
_LONGEST = 300


def target_of(facts: PoolFacts) -> int | None:
    """All nodes that are to be, None where the service doesn't tell."""
    targets = [size.target for size in (facts.dedicated, facts.spot) if size.target is not None]
    return sum(targets) if targets else None


def larger(facts: PoolFacts) -> str:
    """What gives the pool more nodes, as a part of a sentence."""
    return "let the pool's autoscale formula give more nodes" if facts.auto_scale else "make the pool larger"


def replaced(facts: PoolFacts) -> str:
    """How nodes that are lost for good are replaced; Batch restarts nodes only that are idle or run tasks."""
    after = (
        "the pool's formula brings new ones at its next evaluation"
        if facts.auto_scale
        else "resize the pool to its size again, as removing nodes lowers its target"
    )
    return f"Batch refuses to reboot or reimage such nodes: remove them, and {after}."


def formula_sentences(facts: PoolFacts) -> str:
    """What the pool's formula gave, from what, and the lines to change, to go behind advice; empty without one."""
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
    """The same as evidence; empty without a formula."""
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
    """The statements that set a target, with the numbers of the lines on which they begin."""
    plain = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), formula)
    found, line = list[tuple[int, str]](), 1
    for statement in plain.split(";"):
        begins = line + statement[: len(statement) - len(statement.lstrip())].count("\n")
        if _TARGET.match(statement):
            text = " ".join(statement.split())
            found.append((begins, f"{text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''};"))
        line += statement.count("\n")
    return found


def _variables(formula: str) -> tuple[str, ...]:
    """The variables of the service that a formula reads: those that it doesn't make itself."""
    plain = _COMMENT.sub(" ", formula)
    made = set(_MADE.findall(plain))
    return tuple(name for name in dict.fromkeys(_VARIABLE.findall(plain)) if not (name in made or _GIVEN.match(name)))


def _results(results: str) -> str:
    return ", ".join(part.strip() for part in results.split(";") if part.strip())
