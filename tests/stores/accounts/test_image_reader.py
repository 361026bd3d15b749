"""What is stored of Batch's list of supported images where it can't be read, and what is unknown then."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest
from aiohttp import web
from azure.core.exceptions import ResourceNotFoundError

from shared.clock import SharedClock
from shared.domain.retirements.announcements import announcements
from shared.domain.retirements.supported_images import SupportedImage, announcements_in, unknown_images
from shared.services.accounts.registry import Registry
from shared.services.pools.image_reader import ImageReader
from shared.services.queries.retirement_queries import Announcements
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.supported_images import SupportedImageStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_images import BatchImages
from shared.stores.tables.tables import Tables
from tests.stores.batch.test_failing_batch import Service, account, service

__all__ = ["account", "service"]
NOW, HOUR = datetime.now(UTC).replace(microsecond=0), timedelta(hours=1)
IMAGE = {"nodeAgentSKUId": "batch.node.x", "imageReference": {"publisher": "a", "offer": "b", "sku": "c"}}


def answers(service: Service, status: int, *rows: Any) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"value": rows}, status=status)

    service.answer = answer


@pytest.fixture
async def images(tables: Tables, account: BatchAccount) -> AsyncIterator[SupportedImageStore]:
    yield SupportedImageStore(tables)
    with suppress(ResourceNotFoundError):
        await tables["accounts"].delete_entity(f"{account.account.key}~images", "images")


async def test_a_list_that_was_never_read_is_unknown_with_the_reason(
    images: SupportedImageStore, account: BatchAccount, service: Service
) -> None:
    reader, key = ImageReader(BatchImages(account), images), account.account.key
    assert unknown_images(await images.load(key), NOW) == "Batch's list of supported images hasn't been read yet."
    answers(service, 403)
    await reader.refresh(NOW)
    refused = await images.load(key)
    assert refused is not None
    assert (refused.as_of, refused.images, announcements_in(refused)) == (None, (), [])
    assert unknown_images(refused, NOW).startswith("Batch's list of supported images can't be read: ")
    answers(service, 200, IMAGE | {"batchSupportEndOfLife": "2027-06-30"})
    await reader.refresh(NOW + HOUR / 2)
    assert await images.load(key) == refused
    await reader.refresh(NOW + 1.1 * HOUR)
    found = await images.load(key)
    assert found is not None
    assert found.images == (SupportedImage("a/b/c", "batch.node.x", date(2027, 6, 30)),)
    assert unknown_images(found, NOW) == ""


async def test_entries_of_a_deployment_replace_others_and_are_named_once_read_long_ago(
    tables: Tables, images: SupportedImageStore, account: BatchAccount, caplog: pytest.LogCaptureFixture
) -> None:
    (known,) = (one for one in announcements() if one.id == "ubuntu-22.04")
    own = msgspec.structs.replace(known, last_day=date(2027, 9, 30), read_on=date(2026, 1, 1))
    registry = Registry({}, MonitoringStore(tables), SharedClock(lambda: NOW), HOUR)
    announced = Announcements(registry, images, [own])
    for _ in range(2):
        entries = (await announced.of_account(account.account.key)).entries
        assert [one.last_day for one in entries if one.id == own.id] == [own.last_day]
    (warning,) = [line for line in caplog.messages if "RETIREMENTS" in line]
    assert "ubuntu-22.04: read " in warning


async def test_a_list_that_can_no_longer_be_read_stays_with_its_day_and_the_reason(
    images: SupportedImageStore, account: BatchAccount, service: Service
) -> None:
    reader, key = ImageReader(BatchImages(account), images), account.account.key
    answers(service, 200, IMAGE)
    await reader.refresh(NOW)
    answers(service, 403)
    await reader.refresh(NOW + 25 * HOUR)
    found = await images.load(key)
    assert found is not None
    assert found.images == (SupportedImage("a/b/c", "batch.node.x"),)
    assert unknown_images(found, NOW + 25 * HOUR).endswith(f" The last one is of {found.as_of:%Y-%m-%d}.")
    silent = replace(found, problem="")
    assert unknown_images(silent, NOW + 25 * HOUR) == ""
    assert unknown_images(silent, NOW + 49 * HOUR).endswith(": it wasn't read since.")
