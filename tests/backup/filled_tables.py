"""Tables with rows of every type."""

from typing import Any

from local.backup.plan import PLANS
from tests.backup.conftest import Store


async def filled(store: Store, *, rows: int = 7) -> None:
    """Writes some rows of each table, in two partitions, with each table's kinds of keys."""
    for plan in PLANS:
        for partition in ("demo.europe", "demo.europe~x"):
            made: list[dict[str, Any]] = [
                {
                    "PartitionKey": partition,
                    "RowKey": f"r{number:03}",
                    "n": number,
                    "body": bytes([number]) * 300,
                    "blob": "x",
                }
                for number in range(rows)
            ]
            if plan.name == "events":
                made = [{**row, "RowKey": f"c00000000~a-1~{row['n']:013x}~0"} for row in made] + [
                    {"PartitionKey": partition, "RowKey": "oa-1", "offset": rows}
                ]
            await store.put(plan.name, made)
