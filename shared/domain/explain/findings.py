"""What an explanation consists of: findings, each with its weight, what shows it and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

type Severity = Literal["blocking", "limiting", "info"]
type Value = str | int | float | bool | datetime | timedelta | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause: what is so, what shows it, what to do about it, and since when it is so where that is known.

    `blocking`: it keeps every waiting task of the job from starting, for good or while none runs; `limiting`: it keeps
    some, or more of them, from it; `info`: worth knowing, but not the cause.
    """

    code: str
    severity: Severity
    title: str
    detail: str
    advice: str
    evidence: Mapping[str, Value] = field(default_factory=dict)
    since: datetime | None = None
