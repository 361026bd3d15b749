"""Waiting tasks depend on others that haven't completed as required, or never will."""

from shared.domain.core.amounts import amount
from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.explain.evidence import Evidence, Found
from shared.domain.findings.finding import Amount, Severity
from shared.domain.findings.thresholds import MAX_SHOWN_CYCLE

_STANDINGS = {"failed": "failed", "missing": "isn't in the job", "waiting": "waits itself", "running": "is running"}
_FAILED, _CYCLE, _OPEN = "dependenciesFailed", "dependencyCycle", "dependenciesUnsatisfied"


def all_dependent(e: Evidence) -> Found:
    """Returns the finding that all known waiting tasks wait for others: more nodes wouldn't help.

    It comes first though an unknown task may not wait, but blocks only if each is known.
    """
    found = e.dependencies
    if found and found.all_held:
        return _unmet(e, found, e.lasting_severity if found.endless == found.looked else e.severity)
    return _unmet(e, found, "limiting") if found and found.seem_all_held else None


def some_dependent(e: Evidence) -> Found:
    """Returns the finding that some tasks wait for others. The rest wait for something else, which comes first."""
    found = e.dependencies
    return _unmet(e, found, "limiting") if found and not (found.all_held or found.seem_all_held) else None


def _unmet(e: Evidence, found: Dependencies, severity: Severity) -> Found:
    if not found.held or not e.waiting_tasks:
        return None
    rule = _rule(found)
    blockers = ", ".join(
        f"'{b.id}' {_STANDINGS[b.standing]} and holds {amount(b.holds, 'task')}" for b in found.blockers
    )
    return e.about_job(
        rule,
        severity,
        title=_title(found, rule),
        sentence=f"{_who(found)} on tasks that haven't completed as they must: {blockers}.{_cycle(found)}",
        advice=_advice(found, rule),
        evidence={
            "lookedAt": found.looked,
            "isAllWaiting": found.whole,
            "held": found.held,
            "heldByFailed": found.lost,
            "heldByMissing": found.astray,
            "heldByCycle": found.circular,
            "unsure": found.unsure,
            "cycle": found.cycle,
            "blockers": tuple(f"{b.id} ({_STANDINGS[b.standing]}): {b.holds}" for b in found.blockers),
        },
        amount=Amount(found.held, "tasks"),
    )


def _rule(found: Dependencies) -> str:
    """Returns the rule for what holds most of the tasks that wait forever."""
    if found.circular > max(found.lost, found.astray):
        return _CYCLE
    return _FAILED if found.lost else _CYCLE if found.circular else _OPEN


def _who(found: Dependencies) -> str:
    if found.all_held:
        return "The one waiting task depends" if found.looked == 1 else f"All {found.looked:,} waiting tasks depend"
    looked = f"the {found.looked:,} waiting tasks" if found.whole else f"the first {found.looked:,} waiting tasks"
    if found.held == found.looked > 1:
        return f"All of {looked} depend"
    return f"Of {looked} {found.held:,} {'depends' if found.held == 1 else 'depend'}"


def _title(found: Dependencies, rule: str) -> str:
    is_one = found.all_held and found.looked == 1
    whose = "Some of its waiting tasks depend"
    if found.all_held:
        whose = "Its waiting task depends" if is_one else "Its waiting tasks depend"
    elif found.held == found.looked > 1:
        whose = f"The first {found.looked:,} of its waiting tasks depend"
    if rule == _CYCLE:
        return f"{whose} on {'itself' if is_one else 'each other in a cycle'}, which never ends by itself"
    if found.lost == found.held:
        return f"{whose} on tasks that failed"
    return f"{whose} on {'tasks that are not there' if found.astray == found.held else 'others that are not done'}"


def _cycle(found: Dependencies) -> str:
    """Returns the cycle as a text, shortened where it is long."""
    if not found.cycle:
        return ""
    shown = list(found.cycle)
    if len(shown) > MAX_SHOWN_CYCLE:
        shown = [*shown[: MAX_SHOWN_CYCLE - 1], f"{len(shown) - MAX_SHOWN_CYCLE:,} more", shown[-1]]
    path = " waits for ".join(f"'{name}'" for name in shown)
    return f" {path}: a cycle, which never ends by itself."


def _advice(found: Dependencies, rule: str) -> str:
    if rule == _CYCLE:
        return (
            "Delete one of the tasks of the cycle and add it again without the dependency that closes it: dependencies "
            "of a task that is there can't be changed."
        )
    if found.lost:
        return (
            "See why those tasks failed and reactivate them; or let a failure satisfy dependencies with an exit "
            "condition whose dependencyAction is satisfy. Until then the tasks behind them wait for good."
        )
    if found.astray:
        return "Add the tasks that are missing, or correct the ids: a task waits for one that isn't there for good."
    return "Look at the tasks that hold the others: what keeps those keeps these."
