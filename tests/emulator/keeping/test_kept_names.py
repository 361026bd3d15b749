"""Names that come from classes of the emulator: of rows that it keeps, and of JSON that its controls take and give."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import asdict

from local.batch_emulator.auth import DEVELOPMENT_KEY
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.injection import Fault
from local.batch_emulator.rows import FORMAT, KINDS
from local.batch_emulator.settings import Knobs
from tests.pinned_names import assert_pinned


def kept() -> Iterator[str]:
    """A line for the format, for each kind of row and field in their order, and for each method that is planned."""
    yield f"format {FORMAT}"
    for kind in KINDS.values():
        yield from (f"{kind.name} {place:02} {name}" for place, name in enumerate(kind.names))
    (simulation,) = Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=7, speed=1.0, stepped=True).simulations.values()
    for life, planner in simulation.lives.items():
        methods = re.findall(r"partial\(self\.(\w+)", inspect.getsource(type(planner)))
        yield from (f"happening {life}.{method}" for method in methods)


def test_kept_rows_have_the_kinds_and_fields_of_their_format() -> None:
    """Fields change with FORMAT only, or what a user keeps is read wrongly."""
    assert_pinned("emulator_rows", kept(), "stored")


def test_settings_and_faults_have_the_names_that_clients_of_the_controls_use() -> None:
    found = [f"settings {name}" for name in asdict(Knobs())]
    assert_pinned("emulator_controls", [*found, *(f"faults {name}" for name in asdict(Fault()))], "public")
