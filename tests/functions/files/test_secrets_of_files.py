"""Secrets of the redaction bench in a file, requested at offsets within them: shown as the whole file shows them."""

import base64

import pytest
import pytest_asyncio
from azure.batch.models import BatchTaskCreateOptions

from bench.redaction import samples
from shared.domain.files.file_parts import CELL
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
FILE = "accounts/demo/jobs/with-secrets/tasks/telling/files/stdout.txt"
CHOSEN = [sample for sample in samples()[::900] if sample.secrets and sample.text.isascii() and "\n" not in sample.text]
ON_BORDER = CHOSEN[0]
HEAD = "".join(f"{sample.text}\nread 250 rows of part {at}\n" for at, sample in enumerate(CHOSEN[1:]))
TURN = ON_BORDER.text.index(ON_BORDER.secrets[0]) + len(ON_BORDER.secrets[0]) // 2
CONTENT = HEAD + "\n" * (CELL - len(HEAD) - TURN) + ON_BORDER.text + "\nall is done\n"
"""The file; the border of two cells is in the middle of the first sample's secret."""


async def _stage(world: World) -> None:
    await add_pool(world.batch, "with-secrets", nodes=1)
    await add_job(world.batch, "with-secrets", pool="with-secrets")
    command = f"sh -c 'emulate base64 {base64.b64encode(CONTENT.encode()).decode()}'"
    await world.batch.create_task("with-secrets", BatchTaskCreateOptions(id="telling", command_line=command))
    world.advance(900)
    await world.poll()


@pytest_asyncio.fixture(loop_scope="session")
async def secrets(world: World) -> World:
    return await world.staged_once(_stage)


async def test_offsets_within_secrets_show_what_the_whole_file_shows(secrets: World) -> None:
    whole = (await secrets.get(FILE)).body
    assert len(whole) == len(CONTENT)
    for sample in CHOSEN:
        assert not any(secret in whole for secret in sample.secrets), sample.text
        start = CONTENT.index(sample.secrets[0])
        end = start + len(sample.secrets[0])
        for begin in (start - 1, start, (start + end) // 2, end - 1):
            found = await secrets.get(f"{FILE}?offset={begin}&length={end - begin}")
            assert (found.status, found.body) == (200, whole[begin:end]), sample.text
            assert found.headers["batchscope-offset"] == str(begin)
        found = await secrets.get(FILE, range=f"bytes={start + 1}-{end - 2}")
        assert (found.status, found.body) == (206, whole[start + 1 : end - 1]), sample.text
        found = await secrets.get(f"{FILE}?tail={len(CONTENT) - start - 2}")
        assert (found.status, found.body) == (200, whole[start + 2 :]), sample.text
