"""Several real kill -9 while clients change stored accounts."""

from pathlib import Path

from tests.emulator.keeping.killing import run_rounds


async def test_changes_acknowledged_a_second_before_a_kill_survive_it(tmp_path: Path) -> None:
    found = await run_rounds(tmp_path, kills=4, seed=1, longest=2.5, checks=501)
    assert found.problems == []
    assert found.checked > 500
