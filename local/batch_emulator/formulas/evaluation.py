"""Evaluates autoscale formulas: a pool's new targets, and the values of all variables.

Source: "Create a formula to automatically scale compute nodes in a Batch pool". Measurements of nodes (processor,
memory, disks, network) aren't emulated: a formula that uses one is an error.
"""

import contextlib
import math
import random
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

from local.batch_emulator.formulas import syntax
from local.batch_emulator.formulas.functions import call_function
from local.batch_emulator.formulas.scale_samples import InsufficientSamplesError, Metric
from local.batch_emulator.formulas.syntax import Expression, Statement, position_text
from local.batch_emulator.formulas.values import (
    INTERVALS,
    EvaluationError,
    Timestamp,
    Value,
    apply_binary,
    apply_unary,
    format_value,
    get_member,
    type_name,
)

DEDICATED, SPOT, OPTION = "$TargetDedicatedNodes", "$TargetLowPriorityNodes", "$NodeDeallocationOption"
OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")
_ALIASES = {"$TargetDedicated": DEDICATED, "$TargetLowPriority": SPOT}
_UNSUPPORTED = re.compile(
    r"\$(?:CPUPercent|WallClockSeconds|MemoryBytes|Disk(?:Bytes|(?:Read|Write)(?:Bytes|Ops))|Network(?:In|Out)Bytes)\b"
)
_MESSAGES = {
    "AutoScalingFormulaEvaluationError": "The specified autoscale formula could not be evaluated",
    "InsufficientSampleData": "Autoscale evaluation failed due to insufficient sample data",
}


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """A formula's inputs: samples, numbers of the pool, time and random source; `max_nodes` limits each target."""

    metrics: Mapping[str, Metric]
    numbers: Mapping[str, float]
    now: int
    rng: random.Random
    max_nodes: int


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


def unsupported_variable(text: str) -> str | None:
    """Returns the first variable of a formula that isn't emulated."""
    found = _UNSUPPORTED.search(text)
    return found[0] if found else None


def evaluate(text: str, targets: tuple[int, int], context: EvaluationContext) -> EvaluationResult:
    """Evaluates a formula with the present targets. Raises FormulaSyntaxError; the result has other problems."""
    return _Evaluation(text, targets, context).result()


class _Evaluation:
    """An evaluation; targets by precedence (documented): assigned, assigned by an alias, unchanged."""

    def __init__(self, text: str, targets: tuple[int, int], context: EvaluationContext) -> None:
        self._text = text
        self._statements = syntax.parse(text)
        self._context = context
        self._initial_targets = targets
        self._assigned: dict[str, Value] = {}
        self._aliased: dict[str, Value] = {}
        before: dict[str, Value] = {DEDICATED: float(targets[0]), SPOT: float(targets[1]), OPTION: OPTIONS[0]}
        self._targets = ChainMap(self._assigned, self._aliased, before)
        self._variables: dict[str, Value] = {}
        self._at = 0

    def result(self) -> EvaluationResult:
        try:
            with contextlib.suppress(_StopError):
                for statement in self._statements:
                    self._run(statement)
            return self._result(self._count(DEDICATED), self._count(SPOT), str(self._targets[OPTION]))
        except InsufficientSamplesError as problem:
            return self._failure_result("InsufficientSampleData", str(problem))
        except EvaluationError as problem:
            return self._failure_result("AutoScalingFormulaEvaluationError", str(problem))
        except RecursionError:
            return self._failure_result("AutoScalingFormulaEvaluationError", "The formula is nested too deeply")

    def _count(self, name: str) -> int:
        value = self._targets[name]
        if not isinstance(value, float) or not 0 <= value <= self._context.max_nodes:
            raise EvaluationError(f"{name} is a number from 0 to {self._context.max_nodes}, not {format_value(value)}")
        return math.floor(value)

    def _result(
        self, dedicated: int, spot: int, option: str, code: str | None = None, problem: str = ""
    ) -> EvaluationResult:
        texts = [f"{DEDICATED}={dedicated}", f"{SPOT}={spot}", f"{OPTION}={option}"]
        texts += [f"{name}={format_value(self._variables[name])}" for name in sorted(self._variables)]
        return EvaluationResult(dedicated, spot, option, ";".join(texts), code, problem)

    def _failure_result(self, code: str, problem: str) -> EvaluationResult:
        """Returns a result that changes no target (documented)."""
        return self._result(
            *self._initial_targets, OPTIONS[0], code, f"{position_text(self._text, self._at)}: {problem}"
        )

    def _run(self, statement: Statement) -> None:
        value, name, context = self._evaluate(statement.value), statement.target, self._context
        if name is None:
            return
        self._at = statement.at
        if name in context.metrics or name in context.numbers or name in INTERVALS:
            raise EvaluationError(f"{name} can't be assigned")
        if name == OPTION and value not in OPTIONS:
            raise EvaluationError(f"{OPTION} is one of {', '.join(OPTIONS)}, not {format_value(value)}")
        if name in (DEDICATED, SPOT, *_ALIASES) and not isinstance(value, float):
            raise EvaluationError(f"{name} is a double, not a {type_name(value)}")
        if name in _ALIASES:
            self._aliased[_ALIASES[name]] = value
        elif name in self._targets:
            self._assigned[name] = value
        else:
            self._variables[name] = value

    def _evaluate(self, node: Expression) -> Value:
        value = self._resolve(node)
        return value.current if isinstance(value, Metric) else value

    def _resolve(self, node: Expression) -> Value | Metric:
        self._at = node.at
        match node:
            case syntax.ConstantExpression(_, constant):
                return constant
            case syntax.NameExpression(_, name):
                return self._look_up(name)
            case syntax.ConditionalExpression(_, condition, then, otherwise):
                return self._resolve(then if self._is_true(condition) else otherwise)
            case syntax.MethodExpression():
                return self._call_method(node)
            case _:
                return self._apply(node)

    def _apply(self, node: syntax.UnaryExpression | syntax.BinaryExpression | syntax.CallExpression) -> Value:
        match node:
            case syntax.UnaryExpression(at, operator, operand):
                value = self._evaluate(operand)
                self._at = at
                return apply_unary(operator, value)
            case syntax.BinaryExpression():
                return self._binary(node)
            case syntax.CallExpression(at, name, arguments):
                values = [self._evaluate(each) for each in arguments]
                self._at = at
                return self._call(name, values)

    def _look_up(self, name: str) -> Value | Metric:
        full_name = _ALIASES.get(name, name)
        for known in (self._variables, self._targets, INTERVALS, self._context.numbers, self._context.metrics):
            if full_name in known:
                return known[full_name]
        if name in OPTIONS:
            return name
        raise EvaluationError(f"There is no variable '{name}'")

    def _binary(self, node: syntax.BinaryExpression) -> Value:
        if node.operator in ("&&", "||"):
            is_decided = self._is_true(node.left) == (node.operator == "||")
            return float(node.operator == "||") if is_decided else float(self._is_true(node.right))
        left, right = self._evaluate(node.left), self._evaluate(node.right)
        self._at = node.at
        return apply_binary(node.operator, left, right)

    def _is_true(self, node: Expression) -> bool:
        value = self._evaluate(node)
        if not isinstance(value, float):
            self._at = node.at
            raise EvaluationError(f"A condition is a double, not a {type_name(value)}")
        return bool(value)

    def _call(self, name: str, values: list[Value]) -> Value:
        match name, *values:
            case ["rand"]:
                return self._context.rng.random()
            case ["time"] | ["time", ""]:
                return Timestamp(self._context.now)
            case ["stop"]:
                raise _StopError
        return call_function(name, values)

    def _call_method(self, node: syntax.MethodExpression) -> Value:
        owner = self._resolve(node.owner)
        values = None if node.arguments is None else tuple(self._evaluate(each) for each in node.arguments)
        self._at = node.at
        if isinstance(owner, Metric):
            if values is None:
                raise EvaluationError(f"{owner.name} has no member '{node.name}'")
            return owner.call(node.name, values)
        if values is not None:
            raise EvaluationError(f"A {type_name(owner)} has no methods")
        return get_member(owner, node.name)
