"""Evaluates formulas at one moment: from the present targets and samples to new targets.

A failed evaluation changes nothing, as in Batch. Steps and sizes of vectors are bounded, so no formula takes long.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.domain.autoscale import functions, operators
from shared.domain.autoscale.formula_errors import FormulaEvaluationError, FormulaLimitError
from shared.domain.autoscale.members import member
from shared.domain.autoscale.samples import SampledMetric
from shared.domain.autoscale.syntax import (
    Call,
    Chain,
    Choice,
    Expression,
    Formula,
    Member,
    Method,
    Name,
    Number,
    Operand,
    Statement,
    Text,
    Unary,
)
from shared.domain.autoscale.values import (
    INTERVALS,
    Scalar,
    Timestamp,
    ValueProblemError,
    read_timestamp,
    type_name,
)

MAX_TARGET = 2500
"""The most nodes of a kind that a formula may ask for."""
MAX_VECTOR = 20_000
MAX_STEPS = 200_000
"""The most steps of one evaluation; each value of a vector is one."""
OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")
DEDICATED, SPOT, OPTION = "$TargetDedicatedNodes", "$TargetLowPriorityNodes", "$NodeDeallocationOption"
_ALIASES = {"$TargetDedicated": DEDICATED, "$TargetLowPriority": SPOT}
_TARGETS = (DEDICATED, SPOT, *_ALIASES)
_LOGICAL = ("&&", "||")


class Targets(NamedTuple):
    """The numbers of nodes that a pool shall have."""

    dedicated: int
    spot: int


@dataclass(frozen=True, slots=True)
class Moment:
    """What a formula sees: the time, variables with samples, and those that are numbers. `chance` draws for rand()."""

    now: Timestamp
    metrics: Mapping[str, SampledMetric]
    numbers: Mapping[str, float]
    chance: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an evaluation; of a failed one the targets as before, and the error.

    `variables` are those that the formula assigned.
    """

    targets: Targets
    option: str = OPTIONS[0]
    error: FormulaEvaluationError | None = None
    variables: Mapping[str, Scalar] = field(default_factory=dict)
    steps: int = 0


class _StopError(Exception):
    """The formula calls stop()."""


def evaluated(formula: Formula, targets: Targets, moment: Moment, *, max_steps: int = MAX_STEPS) -> Outcome:
    """Returns the outcome of a formula for a pool with these targets."""
    return _Evaluation(formula, targets, moment, min(max_steps, MAX_STEPS)).outcome()


class _Evaluation:
    def __init__(self, formula: Formula, targets: Targets, moment: Moment, max_steps: int) -> None:
        self._formula = formula
        self._targets = targets
        self._moment = moment
        self._most = max_steps
        self._steps = 0
        self._variables: dict[str, Scalar] = {}

    def outcome(self) -> Outcome:
        try:
            for statement in self._formula.statements:
                self._run(statement)
        except _StopError:
            pass
        except FormulaEvaluationError as error:
            return Outcome(self._targets, error=error, variables=self._variables, steps=self._steps)
        option = str(self._variables.get(OPTION, OPTIONS[0]))
        targets = Targets(self._target(DEDICATED), self._target(SPOT))
        return Outcome(targets, option, variables=self._variables, steps=self._steps)

    def _target(self, name: str) -> int:
        value = self._assigned(name)
        return int(value) if isinstance(value, float) else self._targets[name == SPOT]

    def _assigned(self, name: str) -> Scalar | None:
        """Returns the value that a target got, by its full name or else by its alias."""
        alias = next(alias for alias, full in _ALIASES.items() if full == name)
        return self._variables.get(name, self._variables.get(alias))

    def _run(self, statement: Statement) -> None:
        value, name = self._value(statement.value), statement.target
        if name is None:
            return
        if name in INTERVALS or name in self._moment.metrics or name in self._moment.numbers or name in OPTIONS:
            raise FormulaEvaluationError(f"{name} can't be assigned", statement.at)
        if name in _TARGETS:
            _check_target(name, value, statement.at)
        if name == OPTION and value not in OPTIONS:
            raise FormulaEvaluationError(f"{name} is one of {', '.join(OPTIONS)}", statement.at)
        self._variables[name] = value

    def _value(self, node: Expression) -> Scalar:
        """Returns a node's value; a variable with samples counts as its latest value."""
        found = self._resolved(node)
        return found.latest if isinstance(found, SampledMetric) else found

    def _resolved(self, node: Expression) -> Scalar | SampledMetric:
        self._step(node)
        match node:
            case Number() | Text():
                return node.value
            case Name():
                return self._variable(node)
            case Choice():
                return self._chosen(node)
            case Chain():
                return self._chain(node)
        try:
            return self._counted(node, self._applied(node))
        except ValueProblemError as error:
            raise FormulaEvaluationError(str(error), node.at) from None

    def _applied(self, node: Unary | Call | Member | Method) -> Scalar:
        match node:
            case Unary():
                return operators.unary(node.operator, self._value(node.operand))
            case Call():
                return self._call(node)
            case Member():
                return member(self._value(node.owner), node.name)
        owner = self._resolved(node.owner)
        arguments = tuple(map(self._value, node.arguments))
        if not isinstance(owner, SampledMetric):
            raise ValueProblemError(f"a {type_name(owner)} has no methods")
        return owner.call(node.name, arguments)

    def _step(self, node: Expression, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > self._most:
            raise FormulaLimitError("the formula takes more steps than are allowed", _place(node))

    def _counted(self, node: Expression, value: Scalar) -> Scalar:
        """Returns a value after its size counted as steps."""
        if isinstance(value, tuple):
            self._step(node, len(value))
            if len(value) > MAX_VECTOR:
                raise FormulaLimitError(f"a vector has more than {MAX_VECTOR:,} values", _place(node))
        return value

    def _variable(self, node: Name) -> Scalar | SampledMetric:
        name, moment = node.name, self._moment
        if name in self._variables:
            return self._variables[name]
        if name in _TARGETS:
            full = _ALIASES.get(name, name)
            value = self._assigned(full)
            return float(self._targets[full == SPOT]) if value is None else value
        if name in OPTIONS:
            return name
        found = moment.metrics.get(name) or INTERVALS.get(name)
        if found is None and name == OPTION:
            return OPTIONS[0]
        if found is None and name not in moment.numbers:
            raise FormulaEvaluationError(f"there is no variable '{name}'", node.at)
        return moment.numbers[name] if found is None else found

    def _chosen(self, node: Choice) -> Scalar:
        for branch in node.branches:
            if self._is_true(branch.condition):
                return self._value(branch.then)
        return self._value(node.otherwise)

    def _is_true(self, node: Expression) -> bool:
        value = self._value(node)
        if not isinstance(value, float):
            raise FormulaEvaluationError(f"a condition is a double, and not a {type_name(value)}", _place(node))
        return value != 0

    def _chain(self, node: Chain) -> Scalar:
        if node.rest[0].operator in _LOGICAL:
            return self._logical(node)
        value = self._value(node.first)
        for operand in node.rest:
            self._step(node, len(value) if isinstance(value, tuple) else 1)
            value = self._operated(value, operand)
        return value

    def _operated(self, value: Scalar, operand: Operand) -> Scalar:
        right = self._value(operand.value)
        try:
            return operators.binary(operand.operator, value, right)
        except ValueProblemError as error:
            raise FormulaEvaluationError(str(error), operand.at) from None

    def _logical(self, node: Chain) -> float:
        """Returns a chain of `&&` or `||`; operands behind the one that decides aren't evaluated."""
        decides = node.rest[0].operator == "||"
        operands = (node.first, *(operand.value for operand in node.rest))
        return float(decides if any(self._is_true(each) == decides for each in operands) else not decides)

    def _call(self, node: Call) -> Scalar:
        arguments = tuple(map(self._value, node.arguments))
        for argument in arguments:
            self._counted(node, argument)
        match node.name, *arguments:
            case ["time"]:
                return self._moment.now
            case "time", str(text):
                return read_timestamp(text) if text else self._moment.now
            case ["rand"]:
                return self._moment.chance()
            case ["stop"]:
                raise _StopError
            case (("time" | "rand" | "stop"), *_):
                types = ", ".join(map(type_name, arguments))
                raise ValueProblemError(f"{node.name} doesn't take ({types})")
        found = functions.call(node.name, arguments)
        if found is None:
            raise ValueProblemError(f"there is no function '{node.name}'")
        return found


def _check_target(name: str, value: Scalar, at: int) -> None:
    """Raises FormulaEvaluationError for a value that no target can be."""
    if not isinstance(value, float):
        raise FormulaEvaluationError(f"{name} is a double, and not a {type_name(value)}", at)
    if math.isnan(value) or not 0 <= value < MAX_TARGET + 1:
        raise FormulaEvaluationError(f"{name} is a number from 0 to {MAX_TARGET}, and not {value:g}", at)


def _place(node: Expression) -> int:
    while isinstance(node, Chain | Choice):
        node = node.first if isinstance(node, Chain) else node.branches[0].condition
    return node.at
