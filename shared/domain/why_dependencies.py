"""Causes that lie in what waiting tasks depend on: others that haven't completed as they must, or never will."""

from shared.domain.amounts import amount
from shared.domain.dependencies import Blocker, Dependencies
from shared.domain.evidence import Evidence, Finding, Severity

_STANDINGS = {"failed": "failed", "missing": "isn't in the job", "waiting": "waits itself", "running": "is running"}


def all_held(e: Evidence) -> Finding | None:
    """Every waiting task waits for others, which are known to be all: more nodes or slots would help none."""
    return _held_by(e, e.dependencies, e.severity) if e.dependencies and e.dependencies.all_held else None


def seem_all_held(e: Evidence) -> Finding | None:
    """As far as anybody knows all wait for others. That comes first, though one of which nobody knows may not."""
    return _held_by(e, e.dependencies, "limiting") if e.dependencies and e.dependencies.seem_all_held else None


def some_held(e: Evidence) -> Finding | None:
    """Some wait for others. Those that don't wait for something else, which comes first."""
    found = e.dependencies
    return _held_by(e, found, "limiting") if found and not (found.all_held or found.seem_all_held) else None


def _held_by(e: Evidence, found: Dependencies, severity: Severity) -> Finding | None:
    if not found.held or not e.waits:
        return None
    return Finding(
        "dependenciesFailed" if found.lost else "dependenciesUnsatisfied",
        severity,
        _dependency_title(found),
        f"{_who(found)} on tasks that haven't completed as they must: {_blockers(found)}.",
        _dependency_advice(found),
        {
            "lookedAt": found.looked,
            "isAllWaiting": found.whole,
            "held": found.held,
            "heldByFailed": found.lost,
            "heldByMissing": found.astray,
            "unsure": found.unsure,
            "blockers": tuple(f"{b.id} ({_STANDINGS[b.standing]}): {b.holds}" for b in found.blockers),
        },
    )


def _who(found: Dependencies) -> str:
    if found.all_held:
        return "The one waiting task depends" if found.looked == 1 else f"All {found.looked:,} waiting tasks depend"
    looked = f"the {found.looked:,} waiting tasks" if found.whole else f"the first {found.looked:,} waiting tasks"
    if found.held == found.looked > 1:
        return f"All of {looked} depend"
    return f"Of {looked} {found.held:,} {'depends' if found.held == 1 else 'depend'}"


def _dependency_title(found: Dependencies) -> str:
    whose = "Some of its waiting tasks depend"
    if found.all_held:
        whose = "Its waiting task depends" if found.looked == 1 else "Its waiting tasks depend"
    elif found.held == found.looked > 1:
        whose = f"The first {found.looked:,} of its waiting tasks depend"
    return f"{whose} on {'tasks that failed' if found.lost == found.held else 'others that are not done'}"


def _blockers(found: Dependencies) -> str:
    return ", ".join(f"'{b.id}' {_STANDINGS[b.standing]} and holds {_held(b)}" for b in found.blockers)


def _held(blocker: Blocker) -> str:
    return amount(blocker.holds, "task")


def _dependency_advice(found: Dependencies) -> str:
    if found.lost:
        return (
            "See why those tasks failed and reactivate them; or let a failure satisfy dependencies with an exit "
            "condition whose dependencyAction is satisfy. Until then the tasks behind them wait for good."
        )
    if found.astray:
        return "Add the tasks that are missing, or correct the ids: a task waits for one that isn't there for good."
    return "Look at the tasks that hold the others: what keeps those keeps these."
