"""Figures of many start-ups: median and 95th percentile of each phase, and why nodes have none."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.nodes.start_ups import PHASES, Phase, Reason, StartUp, start_up_phase
from shared.domain.pools.machine_settings import Image, MachineSettings

_PERCENT = 100
MAX_GROUPS = 20


class PhaseFigures(NamedTuple):
    """Milliseconds of a phase over `nodes`, None without any; `unknown` are numbers of other nodes by reason."""

    phase: Phase
    nodes: int
    p50: int | None
    p95: int | None
    unknown: tuple[tuple[Reason, int], ...]


@dataclass(frozen=True, slots=True)
class StartUpFigures:
    """The phases of some nodes in the order of time, the total last."""

    nodes: int
    phases: tuple[PhaseFigures, ...]

    def of(self, phase: Phase) -> PhaseFigures:
        return next(one for one in self.phases if one.phase == phase)


def figures_of(many: Sequence[StartUp]) -> StartUpFigures:
    return StartUpFigures(len(many), tuple(_phase(phase, many) for phase in PHASES))


type SizeAndImage = tuple[str, str]
type FiguresByGroup = Mapping[SizeAndImage, StartUpFigures]


def figures_by_day(many: Iterable[StartUp]) -> dict[int, StartUpFigures]:
    """Returns the figures of all days (since 1970), in order."""
    return {day: figures_of(group) for day, group in sorted(_grouped(many, lambda one: one.day).items())}


def days_by_size_and_image(many: Iterable[StartUp]) -> dict[SizeAndImage, dict[int, StartUpFigures]]:
    """Returns the figures of all days of each VM size and image, in order."""
    groups = _grouped(many, lambda one: (one.vm_size, one.image))
    return {name: figures_by_day(groups[name]) for name in sorted(groups)}


def figures_by[K: (str, SizeAndImage)](many: Iterable[StartUp], key: Callable[[StartUp], K]) -> dict[K, StartUpFigures]:
    """Returns the figures of each group by its key, in order; at most 20 groups, those with the most nodes."""
    groups = _grouped(many, key)
    largest = sorted(groups, key=lambda name: (-len(groups[name]), name))[:MAX_GROUPS]
    return {name: figures_of(groups[name]) for name in sorted(largest)}


def _grouped[K](many: Iterable[StartUp], key: Callable[[StartUp], K]) -> dict[K, list[StartUp]]:
    groups = defaultdict[K, list[StartUp]](list)
    for one in many:
        groups[key(one)].append(one)
    return groups


def image_name(settings: MachineSettings | None) -> str:
    """Returns a pool's image in one word: `publisher/offer/sku`, or an own image's id; empty where unknown."""
    machine = settings.virtual_machine_configuration if settings else None
    return _name(machine.image_reference) if machine and machine.image_reference else ""


def _name(image: Image) -> str:
    own = image.virtual_machine_image_id or image.shared_gallery_image_id or image.community_gallery_image_id
    return own or "/".join(part for part in (image.publisher, image.offer, image.sku) if part)


def _phase(phase: Phase, many: Sequence[StartUp]) -> PhaseFigures:
    found = [start_up_phase(one, phase) for one in many]
    known = sorted(one for one in found if isinstance(one, int))
    unknown = Counter(one for one in found if not isinstance(one, int))
    ranked = tuple(sorted(unknown.items(), key=lambda item: (-item[1], item[0])))
    return PhaseFigures(phase, len(known), nearest_rank(known, 50), nearest_rank(known, 95), ranked)


def nearest_rank(values: Sequence[int], percent: int) -> int | None:
    """Returns the least of the sorted values that at least `percent` of all don't exceed; None of none."""
    return values[-(-len(values) * percent // _PERCENT) - 1] if values else None
