"""Tasks that wait for each other in a circle: none of them ever starts, nor any that waits for one of them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet


def endless(edges: Mapping[str, AbstractSet[str]]) -> dict[str, AbstractSet[str]]:
    """Tasks that depend on a cycle, or are part of one, each with those of them that it waits for.

    `edges` are from a waiting task to waiting tasks that it depends on, all by key. It is what is left after taking
    away, time after time, those that wait for none of the others.
    """
    behind: dict[str, set[str]] = {}
    for key, on in edges.items():
        for other in on:
            behind.setdefault(other, set()).add(key)
    waits_for = {key: len(on & edges.keys()) for key, on in edges.items()}
    free = [key for key, number in waits_for.items() if not number]
    while free:
        for key in behind.get(free.pop(), ()):
            waits_for[key] -= 1
            if not waits_for[key]:
                free.append(key)
    left = {key for key, number in waits_for.items() if number}
    return {key: edges[key] & left for key in sorted(left)}


def cycle_in(left: Mapping[str, AbstractSet[str]]) -> tuple[str, ...]:
    """One cycle of these, from a task to itself; empty where there is none."""
    if not left:
        return ()
    path = [min(left)]
    while (following := min(left[path[-1]])) not in path:
        path.append(following)
    return (*path[path.index(following) :], following)
