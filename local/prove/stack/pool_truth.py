"""Compares pools in the API with the truth, while the emulator is paused."""

from collections.abc import Iterator, Mapping
from typing import Any


def pool_differences(shown: Mapping[str, Any], truth: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for every pool figure that differs."""
    yield from (f"pool {name}: not shown" for name in truth.keys() - shown.keys())
    yield from (f"pool {name}: shown, but it doesn't exist" for name in shown.keys() - truth.keys())
    for name in sorted(truth.keys() & shown.keys()):
        found = {**figures_of(shown[name]), "level": shown[name]["verdict"]["level"]}
        true = {**true_figures_of(truth[name]), "level": "exact"}
        yield from (
            f"pool {name}: {figure} is {found.get(figure)}, in truth {value}"
            for figure, value in true.items()
            if found.get(figure) != value
        )


def figures_of(pool: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the figures of a pool in the API, by name."""
    slots, cores = pool["slots"] or {}, pool["cores"] or {}
    return {
        "nodes": pool["nodeCounts"],
        "dedicated": pool["dedicated"]["current"],
        "spot": pool["spot"]["current"],
        "slots used": slots.get("used"),
        "slots": slots.get("total"),
        "cores": cores.get("total"),
        "busy cores": cores.get("busy"),
    }


def true_figures_of(truth: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the true figures."""
    return {
        "nodes": truth["nodes"],
        "dedicated": truth["dedicated"],
        "spot": truth["spot"],
        "slots used": truth["slotsUsed"],
        "slots": truth["slotsTotal"],
        "cores": truth["cores"],
        "busy cores": round(truth["busyCores"], 3),
    }
