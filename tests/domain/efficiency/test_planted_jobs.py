"""Eighty made-up jobs, other ones than the rules' own tests: a planted waste is named first, no sound job is."""

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b

import pytest

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.findings import efficiency_findings
from shared.domain.efficiency.offers import GIB, node_offer
from shared.domain.pools.vm_sizes import vcpus_of
from tests.domain.efficiency.measured_jobs import evidence, run

_SEEDS = range(10)
_GENERAL = ("standard_d8s_v5", "standard_d16ds_v5", "standard_d8ads_v5", "standard_d4s_v3", "standard_f8s_v2")
_LARGE = ("standard_e8s_v5", "standard_e16ds_v5", "standard_e4s_v5")
_GPU = ("standard_nc8as_t4_v3", "standard_nc48ads_a100_v4", "standard_nc40ads_h100_v5")
type Plant = Callable[["Dice"], EfficiencyEvidence]


class Dice:
    """Numbers that follow from a seed alone."""

    def __init__(self, seed: str) -> None:
        self._seed, self._number = seed, 0

    def uniform(self, low: float, high: float) -> float:
        self._number += 1
        digest = blake2b(f"{self._seed} {self._number}".encode(), digest_size=4).digest()
        return low + (high - low) * int.from_bytes(digest) / (1 << 32)

    def choice[T](self, some: Sequence[T]) -> T:
        return some[int(self.uniform(0, len(some)))]


def made(
    rng: Dice,
    size: str,
    slots: int,
    cores: tuple[float, float],
    memory: tuple[float, float],
    *,
    gpus: tuple[float, float] | None = None,
    disk: tuple[float, float] = (0, 30),
) -> EfficiencyEvidence:
    """Returns a job of 30 to 300 runs; cores, memory and GPUs are spans of shares of what a slot offers."""
    node = node_offer(size, vcpus_of(size))
    assert node.room
    runs = [
        run(
            number,
            cores=rng.uniform(*cores) * node.room.cores / slots,
            memory=rng.uniform(*memory) * node.room.memory / GIB / slots,
            gpus=rng.uniform(*gpus) * node.gpus / slots if gpus else None,
            gpu_memory=1.0 if gpus else None,
            disk=rng.uniform(*disk),
        )
        for number in range(int(rng.uniform(30, 300)))
    ]
    return evidence(runs, size=size, slots=slots)


def sound(rng: Dice) -> EfficiencyEvidence:
    size = rng.choice((*_GENERAL, *_LARGE))
    return made(rng, size, rng.choice((1, 2, 4)), (0.7, 0.97), (0.5, 0.85))


def sound_with_gpus(rng: Dice) -> EfficiencyEvidence:
    return made(rng, rng.choice(_GPU), 1, (0.7, 0.95), (0.5, 0.85), gpus=(0.4, 0.95))


def sound_for_its_memory(rng: Dice) -> EfficiencyEvidence:
    return made(rng, "standard_e2s_v5", 1, (0.3, 0.5), (0.6, 0.85))


def single_threaded(rng: Dice) -> EfficiencyEvidence:
    size = rng.choice(_GENERAL)
    cores = vcpus_of(size) or 1
    return made(rng, size, rng.choice((1, 2)), (0.5 / cores, 1.0 / cores), (0.02, 0.3))


def much_memory(rng: Dice) -> EfficiencyEvidence:
    return made(rng, rng.choice(_LARGE), rng.choice((1, 2)), (0.7, 0.97), (0.05, 0.3))


def little_memory(rng: Dice) -> EfficiencyEvidence:
    return made(rng, rng.choice(_GENERAL), rng.choice((1, 4)), (0.7, 0.97), (0.93, 0.99))


def unused_gpus(rng: Dice) -> EfficiencyEvidence:
    return made(rng, rng.choice(_GPU), 1, (0.3, 0.9), (0.2, 0.8), gpus=rng.choice((None, (0.0, 0.04))))


def waiting(rng: Dice) -> EfficiencyEvidence:
    size = rng.choice(_GENERAL)
    cores = vcpus_of(size) or 1
    return made(rng, size, 1, (0.05 / cores, 0.25 / cores), (0.05, 0.8), disk=(60, 400))


PLANTS: dict[Plant, str | None] = {
    sound: None,
    sound_with_gpus: None,
    sound_for_its_memory: None,
    single_threaded: "oneBusyCore",
    much_memory: "memoryAboveNeed",
    little_memory: "memoryNearLimit",
    unused_gpus: "idleGpus",
    waiting: "waitsForDisk",
}


def first_finding(plant: Plant, seed: int) -> str | None:
    found = efficiency_findings(plant(Dice(f"{plant.__name__} {seed}")))
    return found[0].rule if found else None


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_of_each_kind_of_job_the_planted_waste_is_named_first_and_nothing_else_of_a_sound_one(plant: Plant) -> None:
    assert Counter(first_finding(plant, seed) for seed in _SEEDS) == {PLANTS[plant]: len(_SEEDS)}
