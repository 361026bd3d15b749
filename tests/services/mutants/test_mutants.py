import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.profiles import nightly
from tests.services.mutants.delta_machine import DeltaMachine
from tests.services.mutants.mutants import MUTANTS, Mutant
from tests.services.mutants.uncompared import UncomparedMachine, compare_nothing
from tests.services.worlds.process import Recipe
from tests.services.worlds.world import World


def play(mutant: Mutant, recipe: Recipe) -> None:
    world = World(recipe)
    try:
        mutant.scenario(world)
    finally:
        world.close()


@pytest.fixture(autouse=True)
def as_large_as_the_bug_needs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.getfixturevalue("mutant").uncompared:
        compare_nothing(monkeypatch)


def plant(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name, bug in mutant.patches:
        monkeypatch.setattr(place, name, bug)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_real_code_stands_the_scenario_of_a_planted_bug(mutant: Mutant) -> None:
    play(mutant, Recipe())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_bug_shows_in_its_scenario(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(mutant, monkeypatch)
    with pytest.raises(AssertionError):
        play(mutant, mutant.recipe)


@nightly
@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.unaided], ids=lambda mutant: mutant.name)
def test_the_state_machine_finds_a_planted_bug_unaided(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(mutant, monkeypatch)
    machine = UncomparedMachine if mutant.uncompared else DeltaMachine
    mutated = type("Mutated", (machine,), {"recipe": mutant.recipe})
    search = settings(
        max_examples=2000,
        stateful_step_count=40,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(mutated, settings=search)
