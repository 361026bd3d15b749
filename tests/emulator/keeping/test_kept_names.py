"""Names derived from the emulator's classes: in its stored rows, and in the JSON of its controls."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import asdict

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.persistence.rows import FORMAT, KINDS
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.pinned_names import assert_pinned


def kept() -> Iterator[str]:
    """Yields a line for the format, for each kind of row and field in their order, and for each planned method."""
    yield f"format {FORMAT}"
    for kind in KINDS.values():
        yield from (f"{kind.name} {place:02} {name}" for place, name in enumerate(kind.names))
    (simulation,) = Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=7, speed=1.0, stepped=True).simulations.values()
    for life, planner in simulation.transitions.items():
        methods = re.findall(r"partial\(self\.(\w+)", inspect.getsource(type(planner)))
        yield from (f"happening {life}.{method}" for method in methods)


def test_kept_rows_have_the_kinds_and_fields_of_their_format() -> None:
    """Fields change only together with FORMAT, or stored accounts are misread."""
    assert_pinned("emulator_rows", kept(), "stored")


def test_settings_and_faults_have_the_names_that_clients_of_the_controls_use() -> None:
    found = [f"settings {name}" for name in asdict(EmulatorSettings())]
    assert_pinned("emulator_controls", [*found, *(f"faults {name}" for name in asdict(Fault()))], "public")
