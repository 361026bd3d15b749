"""Tables with rows of every type."""

from collections.abc import Collection
from typing import Any

from tests.backup.conftest import Store


async def filled(store: Store, *, rows: int = 7, many: Collection[str] = ()) -> None:
    """Writes some rows of each table, in two partitions, with each table's kinds of keys.

    Tables of `many` get 105 per partition: more than a transaction and a page of most tables hold.
    """
    for plan in store.plans:
        number_of_rows = 105 if plan.name in many else rows
        for partition in ("demo.europe", "demo.europe~x"):
            made: list[dict[str, Any]] = [
                {
                    "PartitionKey": partition,
                    "RowKey": f"r{number:03}",
                    "n": number,
                    "body": bytes([number]) * 300,
                    "blob": "x",
                }
                for number in range(number_of_rows)
            ]
            if plan.name == "events":
                made = [{**row, "RowKey": f"c00000000~a-1~{row['n']:013x}~0"} for row in made] + [
                    {"PartitionKey": partition, "RowKey": "oa-1", "offset": number_of_rows}
                ]
            await store.put(plan.name, made)
