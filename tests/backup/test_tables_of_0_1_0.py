"""Tables written by version 0.1.0: this version reads them and gives the same answers."""

import json
import secrets
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.system.children import Children
from local.prove.upgrade.answers import by_field, differences, is_on_purpose
from local.prove.upgrade.kept_tables import FOLDER, answers_of_this_version, kept_answers, put_back


async def test_answers_from_tables_of_0_1_0_equal_those_of_0_1_0(azurite: StorageAddresses, tmp_path: Path) -> None:
    prefix = f"t{secrets.token_hex(6)}"
    await put_back(azurite.connection_string, prefix)
    with Children() as children:
        after = answers_of_this_version(children, azurite, prefix, tmp_path)
    before, _ = kept_answers()
    found = [one for one in differences(before, after) if not is_on_purpose(one)]
    assert not found, by_field(found)
    assert len(before) > 100
    for kind in ("history", "events?", "rejects?", "jobschedules?"):
        assert any(kind in path and answer["value"] for path, answer in before.items()), kind


def test_every_table_that_0_1_0_had_has_rows() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    rows = {name: sum(segment["rows"] for segment in table["segments"]) for name, table in manifest["tables"].items()}
    assert [name for name, count in rows.items() if not count] == []
