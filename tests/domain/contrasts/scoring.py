"""Scores the comparison on made-up jobs: is a planted cause the first, and is any claimed where there is none?"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.domain.contrasts.planted_jobs import NOTHING, PLANTS, Plant, made_job
from tests.domain.contrasts.unseen_jobs import UNSEEN, UNSEEN_NOTHING

JOBS = 40


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


def score(seed: int, *, unseen: bool = False, most: int | None = None) -> Score:
    """Returns the score of 40 jobs with and 40 without a cause, of the kinds in turn, with at most `most` tasks."""
    plants, nothing = (UNSEEN, UNSEEN_NOTHING) if unseen else (PLANTS, NOTHING)
    missed = [name for name in (_missed(plants[at % len(plants)], seed, at, most) for at in range(JOBS)) if name]
    claimed = [name for name in (_claimed(nothing[at % len(nothing)], seed, at, most) for at in range(JOBS)) if name]
    return Score("unseen" if unseen else "seen", seed, JOBS - len(missed), len(claimed), [*missed, *claimed])


def _missed(plant: Plant, seed: int, number: int, most: int | None) -> str:
    job = made_job(plant, seed, number, most)
    first = next(iter(job.compared().contrasts), None)
    return "" if first and first.attribute in job.expected else f"{job.kind} ({len(job.tasks)})"


def _claimed(plant: Plant, seed: int, number: int, most: int | None) -> str:
    job = made_job(plant, seed, number, most)
    return f"{job.kind} ({len(job.tasks)})" if job.compared().contrasts else ""


if __name__ == "__main__":
    for seed in range(20):
        for unseen in (False, True):
            print(score(seed, unseen=unseen, most=1_000).line, flush=True)
