"""Tables that version 0.1.0 wrote: this version reads them and answers what that one did."""

import secrets
from functools import partial
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.children import Children
from local.dev.stack import Emulated, Options, app_settings
from local.prove.upgrading.answers import by_field, differences, is_on_purpose, recorded
from local.prove.upgrading.kept_tables import kept_answers, put_back
from local.prove.upgrading.versions import Hosts, asked, present_source


async def test_this_version_answers_from_tables_of_0_1_0_what_that_one_did(
    azurite: StorageAddresses, tmp_path: Path
) -> None:
    prefix, account = f"t{secrets.token_hex(6)}", Emulated()
    await put_back(azurite.connection_string, prefix)
    settings = app_settings(Options(), azurite.connection_string, account, "http://127.0.0.1:9")
    with Children() as children:
        hosts = Hosts(children, {**settings, "TABLE_PREFIX": prefix}, tmp_path / "logs", "", account.name)
        api = hosts.start(present_source(tmp_path / "app"), polls=False).api
        before, until = kept_answers()
        after = recorded(partial(asked, api), account.name, until)
    found = [one for one in differences(before, after) if not is_on_purpose(one)]
    assert not found, by_field(found)
    assert len(before) > 100
    assert any("history" in path and answer["value"] for path, answer in before.items())
