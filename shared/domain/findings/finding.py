"""Findings: the one shape of a conclusion, with its scope, severity, evidence, sentences and advice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple, NotRequired, TypedDict

type Severity = Literal["blocking", "limiting", "info"]
type Value = str | int | float | bool | datetime | timedelta | tuple[str, ...] | None


class Scope(NamedTuple):
    """The resource that a finding is about; `id` is its id within its account, or within the pool of a node."""

    kind: Literal["account", "pool", "job", "schedule", "node"]
    id: str
    pool: str = ""


class Amount(NamedTuple):
    """How much a finding concerns; money is in the currency of the account's prices."""

    number: float | Decimal
    unit: Literal["tasks", "nodes", "money"]


class Details(TypedDict):
    """The fields of a finding that rules give by name, beside its rule and severity."""

    title: str
    sentence: str
    advice: str
    evidence: NotRequired[Mapping[str, Value]]
    since: NotRequired[datetime | None]
    amount: NotRequired[Amount]
    link: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A conclusion: the fact, its evidence, advice, and since when it holds where that is known.

    `rule` names it in the API. `blocking`: it keeps every waiting task of the job from starting, permanently or while
    none runs. `limiting`: it keeps some of them, or more of them, from starting. `info`: worth knowing, but no cause.
    `evidence` are figures by their names in the API. `amount` and `link`, the address of a page with more on it, are
    None where there are none.
    """

    rule: str
    scope: Scope
    severity: Severity
    title: str
    sentence: str
    advice: str
    evidence: Mapping[str, Value] = field(default_factory=dict)
    since: datetime | None = None
    amount: Amount | None = None
    link: str | None = None
