"""A planted waste is named first and alone, and no sound job is named at all."""

import pytest

from tests.domain.efficiency.planted_jobs import PLANTS, SEEDS, Plant, judged, scores, table


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_of_each_kind_of_job_the_planted_waste_is_named_first_and_nothing_else(plant: Plant) -> None:
    code = PLANTS[plant]
    assert {tuple(judged(plant, seed).named) for seed in SEEDS} == {(code,) if code else ()}


def test_precision_and_recall_of_all_rules_over_all_planted_jobs() -> None:
    jobs = [judged(plant, seed) for plant in PLANTS for seed in SEEDS]
    print(*table(jobs), sep="\n")
    assert len(jobs) == len(PLANTS) * len(SEEDS) >= 60
    assert {(one.precision, one.recall) for one in scores(jobs)} == {(1.0, 1.0)}
