"""What failed tasks wrote, by the setting FILE_READERS and through the whole app, as callers with roles request it.

It was kept while files were for readers. The apps that are asked here keep answers for a second, as in production.
"""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import pytest_asyncio
from azure.batch.models import BatchTaskCreateOptions

from tests.emulator.support.staging import add_job, add_pool
from tests.functions.access.two_accounts import OPERATORS_OF_ALPHA, asked, principal
from tests.functions.conftest import World
from tests.functions.support.separate_app import SeparateApp, copy_app

pytestmark = pytest.mark.asyncio(loop_scope="session")
WORDS = "the last words of it"
COMMAND = f"sh -c 'echo {WORDS} >&2; exit 3'"
FAILURES, OUTPUT = "accounts/demo/jobs/by-setting/failures", "accounts/demo/jobs/by-setting/tasks/broken/output"
READER, OPERATOR = principal(("roles", "Demo.Reader")), principal(("groups", OPERATORS_OF_ALPHA))
SHARED = (
    "AzureWebJobsStorage",
    "TELEMETRY_STORAGE",
    "RESOURCE_LOG_CONTAINER",
    "TELEMETRY_CONTAINER",
    "TABLE_PREFIX",
    "BATCH_ACCOUNTS",
    "BATCH_ACCOUNT_KEYS",
)
SETTINGS = {"readers": (200, 200), "operators": (403, 200), "nobody": (403, 403)}
"""The statuses that a reader and an operator get for a kept output."""


async def _stage(world: World) -> None:
    await add_pool(world.batch, "by-setting", nodes=1)
    await add_job(world.batch, "by-setting", pool="by-setting")
    await world.batch.create_task("by-setting", BatchTaskCreateOptions(id="broken", command_line=COMMAND))
    world.advance(900)
    for _ in range(2):
        await world.app.fire("tick")
        world.advance(61)


@pytest_asyncio.fixture(loop_scope="session")
async def kept(world: World) -> World:
    """Yields an account with a kept output, and the app that kept it, whose files are for readers."""
    return await world.staged_once(_stage)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_app(tmp_path_factory.mktemp("by-setting"))


async def _with_app(copied: Path, readers: str, check: Callable[[SeparateApp], None]) -> None:
    """Runs a check on an app with this setting, on the same storage, behind a sign-in."""
    settings = {name: os.environ[name] for name in SHARED} | {
        "FILE_READERS": readers,
        "ACCOUNT_ROLES": f"demo=Reader:Demo.Reader demo=Operator:{OPERATORS_OF_ALPHA}",
        "WEBSITE_SITE_NAME": "batchscope",
        "WEBSITE_AUTH_ENABLED": "True",
    }

    def run() -> None:
        with SeparateApp(copied, settings) as app:
            check(app)

    await asyncio.to_thread(run)


@pytest.mark.parametrize("readers", SETTINGS)
async def test_kept_lines_are_in_answers_only_as_the_setting_says(kept: World, copied: Path, readers: str) -> None:
    failures, output = await kept.get(FAILURES), await kept.get(OUTPUT)
    assert failures.body["groups"][0]["outputs"][0]["lines"] == [WORDS]
    assert output.body["stderr"]["text"] == f"{WORDS}\n"

    def check(app: SeparateApp) -> None:
        _check_failures(app, failures.headers["etag"], are_shown=readers == "readers")
        _check_output(app, output.headers["etag"], SETTINGS[readers])

    await _with_app(copied, readers, check)


def _check_failures(app: SeparateApp, etag_of_lines: str, *, are_shown: bool) -> None:
    """One answer serves all callers, so it has the lines for all or for none, also where a client had them before."""
    answers = asked(app, FAILURES, OPERATOR, READER, OPERATOR)
    assert {(said.status, said.text) for said in answers} == {(200, answers[0].text)}
    (group,) = json.loads(answers[0].text)["groups"]
    assert (group["count"], group["exitCode"], group["tasks"]) == (1, 3, ["broken"])
    assert (group["kept"], len(group["outputs"]), WORDS in answers[0].text) == (are_shown, are_shown, are_shown)
    own = answers[0].headers["etag"]
    assert (own == etag_of_lines) is are_shown
    for said in asked(app, FAILURES, READER, OPERATOR, if_none_match=etag_of_lines):
        assert (said.status, said.text) == ((304, "") if are_shown else (200, answers[0].text))
    for said in asked(app, FAILURES, READER, OPERATOR, if_none_match=own):
        assert (said.status, said.text) == (304, "")


def _check_output(app: SeparateApp, etag_of_text: str, statuses: tuple[int, int]) -> None:
    """A caller who may not read it gets neither the text nor whether it is still the same."""
    for caller, status in zip((READER, OPERATOR), statuses, strict=True):
        answers = asked(app, OUTPUT, OPERATOR, caller)  # also right after somebody who may have got it
        assert (answers[-1].status, WORDS in answers[-1].text) == (status, status == 200)
        assert "no-store" in answers[-1].headers["cache-control"]
        assert ("etag" in answers[-1].headers) is (status == 200)
        for known in (etag_of_text, "*"):
            (said,) = asked(app, OUTPUT, caller, if_none_match=known)
            assert (said.status, WORDS in said.text) == (304 if status == 200 else 403, False)
        if status == 403:
            assert "FILE_READERS" in answers[-1].text
