"""`bench delta`: the compared store is measured without waits for storage that cut off a write."""

from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import ServiceResponseError

from bench.measured import delta_app
from bench.measured.delta_app import Scenarios
from bench.parts.delta_parts import Stack


class CuttingOff:
    """A table whose first `failures` transactions are cut off."""

    def __init__(self, failures: int) -> None:
        self.failures, self.written = failures, 0

    async def submit_transaction(self, operations: list[Any]) -> None:
        if self.failures:
            self.failures -= 1
            raise ServiceResponseError("cut off")
        self.written += len(operations)

    async def get_entity(self, *_: str) -> None: ...


def scenarios(table: CuttingOff) -> Scenarios:
    made = object.__new__(Scenarios)
    made.stack, made.cut_off = Stack("", "", "", "task", 100), 0
    made.app = SimpleNamespace(tables={"tasks": table})  # type: ignore[assignment]  # the only part used
    return made


async def test_a_rewrite_in_which_storage_cut_off_a_write_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table, measured = CuttingOff(1), list[object]()
    found = scenarios(table)

    async def spent(act: Any) -> object:
        await act()
        measured.append(object())
        return measured[-1]

    monkeypatch.setattr(delta_app, "_spent", spent)
    last = await found._unbroken(lambda: found._write_entities(range(150)))
    assert (len(measured), table.written, last) == (2, 300, measured[-1])


async def test_storage_that_cuts_off_every_rewrite_is_no_measurement() -> None:
    found = scenarios(CuttingOff(delta_app._TRIES))
    with pytest.raises(TimeoutError, match="each of 5 measured"):
        await found._unbroken(lambda: rewrite(found))


async def rewrite(found: Scenarios) -> None:
    found.app.tables["tasks"].failures = 1  # type: ignore[attr-defined]  # a CuttingOff
    await found._write_entities(range(10))
