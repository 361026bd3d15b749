"""Invalid stored rows, as another process or damage leaves them."""

from typing import Any

from tests.services.worlds.world import World


def spoil(world: World, table: str, partition: str, row: str, **columns: Any) -> None:
    """Writes invalid data into a row, under a new ETag."""
    stored, _ = world.storage.rows[table][partition, row]
    world.storage.rows[table][partition, row] = ({**stored, **columns}, f'W/"{next(world.storage.etags)}"')


def spoil_leaves(world: World) -> None:
    """Damages all stored leaves."""
    leaves = world.storage.rows["tasks"]
    for place, (row, etag) in leaves.items():
        if row["RowKey"].startswith("s"):
            leaves[place] = ({**row, "d0": b"nonsense"}, etag)
