"""Compares a job's failed tasks with those that succeeded, and returns what sets them apart.

One cause after the other: the group that separates outcomes best is the first, then the tasks outside it are compared
again. So a cause is named once, and a second one isn't hidden by the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shared.domain.contrasts.attributes import (
    SETTING_CHANGE,
    Attribute,
    NodeTraits,
    RunFigures,
    attributes_of,
    positions_of,
    start_order,
)
from shared.domain.contrasts.contrast import Contrast, TaskComparison
from shared.domain.contrasts.dispersion import between_neighbours, between_nodes
from shared.domain.contrasts.groups import ContrastGroup, best_group, members, placed
from shared.domain.contrasts.id_parts import MAX_PARTS
from shared.domain.contrasts.setting_eras import PoolChange
from shared.domain.contrasts.statistics import hypergeometric_tail, normal_tail, odds_ratio_bound
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task

LEVEL = 0.02
MIN_ODDS_RATIO = 1.5
MIN_COMPARED = 4
"""Failed tasks, and succeeded ones, from which on they are compared."""
MIN_SHARE = 0.05
"""The least share of all failed tasks beyond chance of a group between bounds, and of every later one but a node."""
MAX_CONTRASTS, MAX_SEARCHES = 4, 6
_SAME, _MOSTLY = 0.5, 0.95
_NEAR = 1.0
_ID_PARTS = tuple(f"idPart{place}" for place in range(1, MAX_PARTS + 1))
_WITH_ONE_BOUND = (SETTING_CHANGE, "position", *_ID_PARTS, "wait", "start")
_WITH_TWO_BOUNDS = (SETTING_CHANGE, "start", "position", *_ID_PARTS)
_USED_UP = ("runTime", "memoryPeak", "gpuMemoryPeak", "gpus")


@dataclass(frozen=True, slots=True)
class ClearGroup:
    """A group that passed, with a byte for each of its rows, and its corrected p."""

    group: ContrastGroup
    inside: bytes
    p_value: float


class GroupSearch:
    """Searches the compared tasks, again and again with fewer of them; `tried` counts the groups of all searches."""

    def __init__(self, tasks: Sequence[Task], attributes: Sequence[Attribute], positions: Sequence[int]) -> None:
        self.failed = bytes(task.result == FAILURE for task in tasks)
        self.attributes = attributes
        self._nodes = [task.node if task.node[1] else None for task in tasks]
        self._starts, self._positions = start_order(tasks), sorted(range(len(tasks)), key=positions.__getitem__)
        self.tried = 0

    def among(self, active: bytes, attributes: Sequence[Attribute], *, falling: bool = False) -> list[ClearGroup]:
        """Returns the groups that pass among active rows, one of an attribute, the best first."""
        best = [best_group(one, self.failed, active, falling=falling) for one in attributes]
        groups = [group for group in best if group is not None]
        self.tried += sum(group.tried for group in groups)
        found = [self._judged(group, active, len(groups)) for group in groups]
        return sorted((one for one in found if one is not None), key=lambda one: -round(one.group.score, 6))

    def _judged(self, group: ContrastGroup, active: bytes, families: int) -> ClearGroup | None:
        """Returns the group if it passes the level and has a minimal effect, both after the correction."""
        trials = group.tried * families
        exact = hypergeometric_tail(group.tally) * trials
        if exact > LEVEL:
            return None
        exactly = placed(group, self.failed, active)
        if not self._has_effect(exactly):
            return None
        inside = members(exactly)
        spread = self._dispersion(exactly, inside, active)
        p_value = exact if spread <= 1 else max(exact, normal_tail(2 * group.tally.gain / spread) * trials)
        return ClearGroup(exactly, inside, p_value) if p_value <= LEVEL else None

    def _has_effect(self, group: ContrastGroup) -> bool:
        tally = group.tally
        is_large = group.attribute.kind == "nominal" or tally.excess >= MIN_SHARE * sum(self.failed)
        return is_large and tally.excess >= MIN_COMPARED - 1 and odds_ratio_bound(tally) >= MIN_ODDS_RATIO

    def _dispersion(self, group: ContrastGroup, inside: bytes, active: bytes) -> float:
        nodes = [node if is_active else None for node, is_active in zip(self._nodes, active, strict=True)]
        of_others = group.attribute.kind == "nominal" and group.attribute.name != "node"
        values = group.attribute.values if of_others else None
        spread = between_nodes(group.tally, inside, self.failed, nodes, values)
        if group.attribute.is_serial:
            order = self._positions if group.attribute.scale == "id" else self._starts
            rows = [at for at in order if active[at]]
            spread = max(spread, between_neighbours(group.tally, inside, self.failed, rows))
        return spread


def compare_tasks(
    tasks: Sequence[Task],
    nodes: Mapping[tuple[str, str], NodeTraits] | None = None,
    figures: Mapping[str, RunFigures] | None = None,
    positions: Sequence[int] | None = None,
    *,
    changes: Mapping[str, Sequence[PoolChange]] | None = None,
) -> TaskComparison:
    """Returns what sets the failed ones among ended tasks apart.

    Tasks that haven't ended are left out. `nodes` are by (pool id, node id), `figures` of measured runs by task key,
    `positions` in the job by row: those among the `tasks` without any. `changes` of settings are by pool id, the
    earliest first.
    """
    rows = [at for at, task in enumerate(tasks) if task.state == COMPLETED and task.result in (SUCCESS, FAILURE)]
    ended = [tasks[at] for at in rows]
    failed = sum(task.result == FAILURE for task in ended)
    succeeded = len(ended) - failed
    if not failed:
        return TaskComparison("noneFailed", failed, succeeded)
    if not succeeded:
        return TaskComparison("allFailed", failed, succeeded)
    if min(failed, succeeded) < MIN_COMPARED:
        return TaskComparison("tooFew", failed, succeeded)
    places = positions or positions_of(tasks)
    of_ended = [places[at] for at in rows]
    attributes = attributes_of(ended, nodes or {}, figures or {}, of_ended, changes or {})
    search = GroupSearch(ended, attributes, of_ended)
    contrasts, consequences = _causes(search), _consequences(search)
    return TaskComparison(
        result="apart" if contrasts else "nothing",
        failed=failed,
        succeeded=succeeded,
        attributes=tuple(dict.fromkeys(one.name for one in attributes)),
        tried=search.tried,
        contrasts=contrasts,
        consequences=consequences,
        tasks=ended,
    )


def _causes(search: GroupSearch) -> list[Contrast]:
    """Returns the causes, each found among the tasks outside those before it."""
    chosen = list[tuple[ClearGroup, list[ClearGroup]]]()
    active = bytes([1]) * len(search.failed)
    candidates = [one for one in search.attributes if not _is_retry_policy(one, search.failed)]
    for _ in range(MAX_SEARCHES):
        found = search.among(active, candidates)
        if not found or len(chosen) == MAX_CONTRASTS:
            break
        first = _first_of(found, search.failed)
        if not _is_rest(first, chosen, search.failed):
            chosen.append((first, [one for one in found if _is_alike(first, one, search.failed)]))
        active = bytes(is_active and not is_in for is_active, is_in in zip(active, first.inside, strict=True))
    return [replace(_contrast(first), alike=tuple(map(_contrast, same))) for first, same in chosen]


def _consequences(search: GroupSearch) -> list[Contrast]:
    """Returns what follows from failing: short runs that used little, and retries until none was left."""
    everything = bytes([1]) * len(search.failed)
    used = [one for one in search.attributes if one.name in _USED_UP]
    retried = [one for one in search.attributes if _is_retry_policy(one, search.failed)]
    found = [*search.among(everything, used, falling=True), *search.among(everything, retried)]
    return [_contrast(one) for one in found]


def _is_retry_policy(attribute: Attribute, failed: bytes) -> bool:
    """Returns whether nearly all failed tasks have the most retries, as Batch retries until none is left."""
    if attribute.name != "retries":
        return False
    most = max(attribute.values)
    at_most = sum(has_failed and value == most for has_failed, value in zip(failed, attribute.values, strict=True))
    return at_most >= _MOSTLY * sum(failed)


def _first_of(found: Sequence[ClearGroup], failed: bytes) -> ClearGroup:
    """Returns the best group, or one of the same tasks that goes before it.

    That is the node before a coarser property of machines, and the change of an image before the image. Of time and
    order with nearly equal scores, a change of settings goes first, then the start for a range with two bounds, as an
    outage has, and the position in the job for one with a single bound.
    """
    first = found[0]
    if first.group.attribute.scale == "machine":
        same = {one.group.attribute.name: one for one in found if one.inside == first.inside}
        return same.get("node") or same.get(SETTING_CHANGE) or first
    serial = _WITH_ONE_BOUND if None in first.group.bounds else _WITH_TWO_BOUNDS
    if first.group.attribute.name not in serial:
        return first
    near = [
        one
        for one in found
        if one.group.attribute.name in serial
        and one.group.score >= first.group.score - _NEAR
        and _overlap(one.inside, first.inside, failed) >= _MOSTLY
    ]
    return min(near, key=lambda one: serial.index(one.group.attribute.name))


def _is_alike(first: ClearGroup, other: ClearGroup, failed: bytes) -> bool:
    return other is not first and _overlap(first.inside, other.inside, failed) >= _SAME


def _is_rest(found: ClearGroup, chosen: Sequence[tuple[ClearGroup, Any]], failed: bytes) -> bool:
    """Returns whether a group is only the rest that one before it left, or has too few of all failed tasks."""
    attribute = found.group.attribute
    is_beside = attribute.kind != "nominal" and any(one.group.attribute.name == attribute.name for one, _ in chosen)
    is_same = any(_overlap(one.inside, found.inside, failed) >= _SAME for one, _ in chosen)
    is_small = bool(chosen) and attribute.name != "node" and found.group.tally.excess < MIN_SHARE * sum(failed)
    return is_beside or is_same or is_small


def _overlap(one: bytes, other: bytes, failed: bytes) -> float:
    """Returns which share of the failed tasks in either group is in both."""
    both = sum(map(int.__and__, map(int.__and__, one, other), failed))
    either = sum(map(int.__and__, map(int.__or__, one, other), failed))
    return both / either if either else 0.0


def _contrast(found: ClearGroup) -> Contrast:
    group = found.group
    return Contrast(
        attribute=group.attribute.name,
        low=group.bounds.low,
        high=group.bounds.high,
        is_value=group.attribute.kind == "nominal",
        tally=group.tally,
        p_value=min(found.p_value, 1.0),
        is_serial=group.attribute.is_serial,
        inside=found.inside,
    )
