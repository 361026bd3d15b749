"""Scores the comparison on made-up jobs: is a planted cause the first, and is any claimed where there is none?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.domain.contrasts.held_out_jobs import HELD_OUT
from tests.domain.contrasts.held_out_nothing import HELD_OUT_NOTHING
from tests.domain.contrasts.planted_jobs import NOTHING, PLANTS, Plant, made_job
from tests.domain.contrasts.unseen_jobs import UNSEEN, UNSEEN_NOTHING

JOBS = 40
SETS: Mapping[str, tuple[Sequence[Plant], Sequence[Plant]]] = {
    "seen": (PLANTS, NOTHING),
    "unseen": (UNSEEN, UNSEEN_NOTHING),
    "held out": (HELD_OUT, HELD_OUT_NOTHING),
}
"""Kinds of jobs with and without a cause."""


@dataclass(frozen=True, slots=True)
class Score:
    """Of one seed: jobs whose planted cause was first, and jobs without a cause in which one was claimed."""

    name: str
    seed: int
    first: int
    claimed: int
    missed: Sequence[str]

    @property
    def line(self) -> str:
        missed = f"   {', '.join(self.missed)}" if self.missed else ""
        return (
            f"{self.name:<10} seed {self.seed:>2}   first {self.first:>2}/{JOBS}   false {self.claimed}/{JOBS}{missed}"
        )


def score(seed: int, name: str = "seen", *, most: int | None = None) -> Score:
    """Returns the score of 40 jobs with and 40 without a cause, of a set's kinds in turn, with at most `most` tasks."""
    plants, nothing = SETS[name]
    missed = [name for name in (_missed(plants[at % len(plants)], seed, at, most) for at in range(JOBS)) if name]
    claimed = [name for name in (_claimed(nothing[at % len(nothing)], seed, at, most) for at in range(JOBS)) if name]
    return Score(name, seed, JOBS - len(missed), len(claimed), [*missed, *claimed])


def _missed(plant: Plant, seed: int, number: int, most: int | None) -> str:
    job = made_job(plant, seed, number, most)
    first = next(iter(job.compared().contrasts), None)
    return "" if first and first.attribute in job.expected else f"{job.kind} ({len(job.tasks)})"


def _claimed(plant: Plant, seed: int, number: int, most: int | None) -> str:
    job = made_job(plant, seed, number, most)
    return f"{job.kind} ({len(job.tasks)})" if job.compared().contrasts else ""


if __name__ == "__main__":
    for seed in range(20):
        for name in SETS:
            print(score(seed, name, most=1_000).line, flush=True)
