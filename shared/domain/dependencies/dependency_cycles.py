"""Cycles of tasks that wait for each other: none of them ever starts, nor any task that waits for one of them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet


def endless(edges: Mapping[str, AbstractSet[str]]) -> dict[str, AbstractSet[str]]:
    """Returns the tasks that depend on a cycle, or are part of one, each with those of them that it waits for.

    `edges` are from a waiting task to waiting tasks that it depends on, all by key. Tasks that wait for none of the
    others are removed repeatedly; the remaining ones are the result.
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
    """Returns one cycle of these tasks, from a task to itself; empty without one."""
    if not left:
        return ()
    path = [min(left)]
    while (following := min(left[path[-1]])) not in path:
        path.append(following)
    return (*path[path.index(following) :], following)
