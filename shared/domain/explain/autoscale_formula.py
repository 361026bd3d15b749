"""A pool's autoscale formula in advice and evidence: what it gave, what it reads, which of its lines decide.

Source: "Create a formula to automatically scale compute nodes in a Batch pool".
"""

import re

from shared.domain.findings.finding import Value
from shared.domain.findings.thresholds import MAX_FORMULA_LINE
from shared.domain.pools.pool_facts import PoolFacts

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TARGET = re.compile(r"\s*\$Target\w+\s*=(?!=)")
_VARIABLE = re.compile(r"\$[A-Za-z]\w*")
_MADE = re.compile(r"(?:^|;)\s*(\$[A-Za-z]\w*)\s*=(?!=)")
_GIVEN = re.compile(r"\$Target|\$NodeDeallocationOption")


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
            found.append((begins, f"{text[:MAX_FORMULA_LINE]}{'…' if len(text) > MAX_FORMULA_LINE else ''};"))
        line += statement.count("\n")
    return found


def _variables(formula: str) -> tuple[str, ...]:
    """Returns the service's variables that a formula reads, without those that it defines itself."""
    plain = _COMMENT.sub(" ", formula)
    made = set(_MADE.findall(plain))
    return tuple(name for name in dict.fromkeys(_VARIABLE.findall(plain)) if not (name in made or _GIVEN.match(name)))


def _results(results: str) -> str:
    return ", ".join(part.strip() for part in results.split(";") if part.strip())
