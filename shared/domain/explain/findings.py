"""Findings, the parts of an explanation: each with severity, evidence and advice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

type Severity = Literal["blocking", "limiting", "info"]
type Value = str | int | float | bool | datetime | timedelta | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause: the fact, its evidence, advice, and since when it holds where that is known.

    `blocking`: it keeps every waiting task of the job from starting, permanently or while none runs. `limiting`: it
    keeps some of them, or more of them, from starting. `info`: worth knowing, but not the cause.
    """

    code: str
    severity: Severity
    title: str
    detail: str
    advice: str
    evidence: Mapping[str, Value] = field(default_factory=dict)
    since: datetime | None = None
