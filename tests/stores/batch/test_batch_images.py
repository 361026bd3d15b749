"""Batch's list of supported images as the service sends it, also with entries of another form."""

import json
from datetime import date
from typing import Any

import pytest
from aiohttp import web

from shared.domain.retirements.supported_images import SupportedImage, SupportedImages
from shared.errors import BatchAnswerError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_images import BatchImages
from tests.stores.batch.test_failing_batch import Service, account, service

__all__ = ["account", "service"]
AGENT = "batch.node.x"
IMAGE = {"nodeAgentSKUId": AGENT, "imageReference": {"publisher": "a", "offer": "b", "sku": "c"}}
ENDS = "batchSupportEndOfLife"


async def fetched(account: BatchAccount, service: Service, *rows: Any) -> SupportedImages:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"value": rows})

    service.answer = answer
    return await BatchImages(account).fetch_images()


async def listed(account: BatchAccount, service: Service, *rows: Any) -> list[SupportedImage]:
    return list((await fetched(account, service, *rows)).images)


@pytest.mark.parametrize("sent", [
    "2027-06-30", "2027-06-30T00:00:00Z", "2027-06-30T23:59:59.9999999Z", "2027-06-30T02:00:00+02:00",
])  # fmt: skip
async def test_an_image_has_the_day_on_which_its_support_ends(
    account: BatchAccount, service: Service, sent: str
) -> None:
    (found,) = await listed(account, service, IMAGE | {ENDS: sent})
    assert found == SupportedImage("a/b/c", AGENT, date(2027, 6, 30))


@pytest.mark.parametrize("sent", [None, "", "N/A", "2027-13-01T00:00:00Z", 5, True, {}, ["2027-06-30"]])
async def test_an_end_of_another_form_is_not_known(account: BatchAccount, service: Service, sent: Any) -> None:
    found = await listed(account, service, IMAGE | {ENDS: sent}, IMAGE | {ENDS: "2027-06-30"})
    assert [image.ends for image in found] == [None, date(2027, 6, 30)]


@pytest.mark.parametrize("row", [
    {}, None, 7, IMAGE | {"nodeAgentSKUId": None}, IMAGE | {"imageReference": None}, {"nodeAgentSKUId": AGENT},
    IMAGE | {"imageReference": {"publisher": 1}}, IMAGE | {"imageReference": {"virtualMachineImageId": "/own"}},
])  # fmt: skip
async def test_an_image_without_a_name_or_agent_is_left_out_alone(
    account: BatchAccount, service: Service, row: Any
) -> None:
    assert await listed(account, service, row, IMAGE) == [SupportedImage("a/b/c", AGENT)]


async def test_images_that_are_not_understood_are_named_as_unknown(account: BatchAccount, service: Service) -> None:
    assert (await fetched(account, service, IMAGE)).problem == ""
    found = await fetched(account, service, IMAGE | {ENDS: "soon"}, {}, IMAGE)
    assert found.problem == "When Batch's support ends isn't known of 2 images, such as a/b/c."


async def test_an_empty_list_is_refused(account: BatchAccount, service: Service) -> None:
    with pytest.raises(BatchAnswerError, match="without any"):
        await listed(account, service)


async def test_a_page_that_is_no_list_is_refused(account: BatchAccount, service: Service) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=json.dumps({"images": []}), content_type="application/json")

    service.answer = answer
    with pytest.raises(BatchAnswerError, match="makes no sense"):
        await BatchImages(account).fetch_images()
