"""Evaluates autoscale formulas: a pool's new targets, and the values of all variables.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". Measurements of nodes (processor,
memory, disks, network) aren't emulated: a formula that uses one is refused.
"""

import contextlib
import math
import random
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.formulas import syntax
from local.batch_emulator.formulas.functions import called
from local.batch_emulator.formulas.scale_samples import InsufficientError, Metric
from local.batch_emulator.formulas.syntax import Expression, Statement, place
from local.batch_emulator.formulas.values import (
    INTERVALS,
    ProblemError,
    Timestamp,
    Value,
    calculated,
    kind_of,
    member,
    negated,
    shown,
)

DEDICATED, SPOT, OPTION = "$TargetDedicatedNodes", "$TargetLowPriorityNodes", "$NodeDeallocationOption"
OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")
_ALIASES = {"$TargetDedicated": DEDICATED, "$TargetLowPriority": SPOT}
_MEASURED = re.compile(
    r"\$(?:CPUPercent|WallClockSeconds|MemoryBytes|Disk(?:Bytes|(?:Read|Write)(?:Bytes|Ops))|Network(?:In|Out)Bytes)\b"
)
_MESSAGES = {
    "AutoScalingFormulaEvaluationError": "The specified autoscale formula could not be evaluated",
    "InsufficientSampleData": "Autoscale evaluation failed due to insufficient sample data",
}


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """A formula's inputs: samples, numbers of the pool, time and random source; and the maximum of nodes of a kind."""

    metrics: Mapping[str, Metric]
    numbers: Mapping[str, float]
    now: int
    rng: random.Random
    most: int


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The targets and option after an evaluation, all variables as text, and an error's code and position."""

    dedicated: int
    spot: int
    option: str
    results: str
    code: str | None = None
    problem: str = ""

    @property
    def message(self) -> str:
        return _MESSAGES[self.code or ""]


class _StopError(Exception):
    """The formula called `stop()`."""


def measured_variable(text: str) -> str | None:
    """Returns the first variable of a formula that isn't emulated."""
    found = _MEASURED.search(text)
    return found[0] if found else None


def evaluate(text: str, present: tuple[int, int], context: EvaluationContext) -> EvaluationResult:
    """Evaluates a formula on the present targets. Raises SyntaxProblemError; other problems are in the outcome."""
    return _Evaluation(text, present, context).result()


class _Evaluation:
    """An evaluation; targets by precedence (documented): assigned, assigned by an alias, unchanged."""

    def __init__(self, text: str, present: tuple[int, int], context: EvaluationContext) -> None:
        self._text = text
        self._statements = syntax.parse(text)
        self._around = context
        self._present = present
        self._full: dict[str, Value] = {}
        self._aliased: dict[str, Value] = {}
        before: dict[str, Value] = {DEDICATED: float(present[0]), SPOT: float(present[1]), OPTION: OPTIONS[0]}
        self._targets = ChainMap(self._full, self._aliased, before)
        self._own: dict[str, Value] = {}
        self._at = 0

    def result(self) -> EvaluationResult:
        try:
            with contextlib.suppress(_StopError):
                for statement in self._statements:
                    self._run(statement)
            return self._done(self._count(DEDICATED), self._count(SPOT), str(self._targets[OPTION]))
        except InsufficientError as problem:
            return self._failed("InsufficientSampleData", str(problem))
        except ProblemError as problem:
            return self._failed("AutoScalingFormulaEvaluationError", str(problem))
        except RecursionError:
            return self._failed("AutoScalingFormulaEvaluationError", "The formula is nested too deeply")

    def _count(self, name: str) -> int:
        value = self._targets[name]
        if not isinstance(value, float) or not 0 <= value <= self._around.most:
            raise ProblemError(f"{name} is a number from 0 to {self._around.most}, not {shown(value)}")
        return math.floor(value)

    def _done(
        self, dedicated: int, spot: int, option: str, code: str | None = None, problem: str = ""
    ) -> EvaluationResult:
        texts = [f"{DEDICATED}={dedicated}", f"{SPOT}={spot}", f"{OPTION}={option}"]
        texts += [f"{name}={shown(self._own[name])}" for name in sorted(self._own)]
        return EvaluationResult(dedicated, spot, option, ";".join(texts), code, problem)

    def _failed(self, code: str, problem: str) -> EvaluationResult:
        """Returns an outcome without changes (documented)."""
        return self._done(*self._present, OPTIONS[0], code, f"{place(self._text, self._at)}: {problem}")

    def _run(self, statement: Statement) -> None:
        value, name, context = self._value(statement.value), statement.target, self._around
        if name is None:
            return
        self._at = statement.at
        if name in context.metrics or name in context.numbers or name in INTERVALS:
            raise ProblemError(f"{name} can't be assigned")
        if name == OPTION and value not in OPTIONS:
            raise ProblemError(f"{OPTION} is one of {', '.join(OPTIONS)}, not {shown(value)}")
        if name in (DEDICATED, SPOT, *_ALIASES) and not isinstance(value, float):
            raise ProblemError(f"{name} is a double, not a {kind_of(value)}")
        if name in _ALIASES:
            self._aliased[_ALIASES[name]] = value
        elif name in self._targets:
            self._full[name] = value
        else:
            self._own[name] = value

    def _value(self, node: Expression) -> Value:
        found = self._found(node)
        return found.current if isinstance(found, Metric) else found

    def _found(self, node: Expression) -> Value | Metric:
        self._at = node.at
        match node:
            case syntax.Constant(_, constant):
                return constant
            case syntax.Name(_, name):
                return self._named(name)
            case syntax.Choice(_, condition, then, otherwise):
                return self._found(then if self._is_true(condition) else otherwise)
            case syntax.Method():
                return self._method(node)
            case _:
                return self._operated(node)

    def _operated(self, node: syntax.Unary | syntax.Binary | syntax.Call) -> Value:
        match node:
            case syntax.Unary(at, operator, operand):
                value = self._value(operand)
                self._at = at
                return negated(operator, value)
            case syntax.Binary():
                return self._binary(node)
            case syntax.Call(at, name, arguments):
                values = [self._value(each) for each in arguments]
                self._at = at
                return self._called(name, values)

    def _named(self, name: str) -> Value | Metric:
        full = _ALIASES.get(name, name)
        for known in (self._own, self._targets, INTERVALS, self._around.numbers, self._around.metrics):
            if full in known:
                return known[full]
        if name in OPTIONS:
            return name
        raise ProblemError(f"There is no variable '{name}'")

    def _binary(self, node: syntax.Binary) -> Value:
        if node.operator in ("&&", "||"):
            is_decided = self._is_true(node.left) == (node.operator == "||")
            return float(node.operator == "||") if is_decided else float(self._is_true(node.right))
        left, right = self._value(node.left), self._value(node.right)
        self._at = node.at
        return calculated(node.operator, left, right)

    def _is_true(self, node: Expression) -> bool:
        value = self._value(node)
        if not isinstance(value, float):
            self._at = node.at
            raise ProblemError(f"A condition is a double, not a {kind_of(value)}")
        return bool(value)

    def _called(self, name: str, values: list[Value]) -> Value:
        match name, *values:
            case ["rand"]:
                return self._around.rng.random()
            case ["time"] | ["time", ""]:
                return Timestamp(self._around.now)
            case ["stop"]:
                raise _StopError
        return called(name, values)

    def _method(self, node: syntax.Method) -> Value:
        owner = self._found(node.owner)
        values = None if node.arguments is None else tuple(self._value(each) for each in node.arguments)
        self._at = node.at
        if isinstance(owner, Metric):
            if values is None:
                raise ProblemError(f"{owner.name} has no member '{node.name}'")
            return owner.called(node.name, values)
        if values is not None:
            raise ProblemError(f"A {kind_of(owner)} has no methods")
        return member(owner, node.name)
