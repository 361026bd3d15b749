"""Findings as plain values, for JSON: times in ISO 8601, durations in seconds, tuples as lists."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from shared.domain.findings.finding import Amount, Finding, Scope, Value

type PlainValue = str | int | float | bool | list[str] | None


def plain_value(value: Value) -> PlainValue:
    """Returns a figure of evidence for JSON."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    return list(value) if isinstance(value, tuple) else value


def plain_finding(finding: Finding) -> dict[str, Any]:
    amount = finding.amount and [str(finding.amount.number), finding.amount.unit]
    return {
        "rule": finding.rule,
        "scope": list(finding.scope),
        "severity": finding.severity,
        "title": finding.title,
        "sentence": finding.sentence,
        "advice": finding.advice,
        "evidence": {name: plain_value(value) for name, value in finding.evidence.items()},
        "since": plain_value(finding.since),
        "amount": amount,
        "link": finding.link,
    }


def finding_of_plain(plain: Mapping[str, Any]) -> Finding:
    """Returns a finding, whose evidence stays plain. Raises ValueError, TypeError, LookupError, ArithmeticError."""
    amount, since = plain["amount"], plain["since"]
    evidence = {name: tuple(value) if isinstance(value, list) else value for name, value in plain["evidence"].items()}
    return Finding(
        **{name: plain[name] for name in ("rule", "severity", "title", "sentence", "advice", "link")},
        scope=Scope(*plain["scope"]),
        evidence=evidence,
        since=datetime.fromisoformat(since) if since else None,
        amount=amount and Amount(_number(*amount), amount[1]),
    )


def _number(text: str, unit: str) -> Decimal | int | float:
    if unit == "money":
        return Decimal(text)
    return int(text) if text.lstrip("-").isdigit() else float(text)
