"""Reads the images of the marketplace that Batch supports in an account's region. Field names: REST 2025-06-01."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from msgspec import Raw, Struct
from msgspec.json import Decoder

from shared.domain.core.amounts import amount
from shared.domain.retirements.supported_images import SupportedImage, SupportedImages
from shared.errors import BatchAnswerError
from shared.log import logger
from shared.stores.batch.batch_addresses import query_of
from shared.stores.batch.batch_lists import BatchLists
from shared.stores.batch.batch_pool_rows import maybe_time
from shared.stores.batch.batch_rows import NONSENSE, Rows

_LOG = logger(__name__)
_URL = f"/supportedimages?{query_of(())}"


class _Reference(Struct):
    publisher: str | None = None
    offer: str | None = None
    sku: str | None = None


class _Image(
    Struct, rename={"agent": "nodeAgentSKUId", "reference": "imageReference", "ends": "batchSupportEndOfLife"}
):
    agent: str
    reference: _Reference
    ends: Any = None


_PAGE, _IMAGE = Decoder(Rows[Raw]), Decoder(_Image)


class BatchImages(BatchLists):
    """The images of one account."""

    async def fetch_images(self) -> SupportedImages:
        """Returns all supported images with the date of the list. Raises BatchError."""
        unread = list[str]()
        found = await self.pages(_URL, "list supported images", lambda body: _images_of(body, unread))
        as_of = found[0][1]
        if as_of is None:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of supported images that bears no date.")
        images = tuple(image for page, _ in found for image in page)
        if not images:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of supported images without any.")
        return SupportedImages(as_of, images, problem=_problem(unread))


def _problem(unread: Sequence[str]) -> str:
    """Returns a sentence on images that weren't understood; empty without any."""
    if not unread:
        return ""
    return f"When Batch's support ends isn't known of {amount(len(unread), 'image')}, such as {unread[0]}."


def _images_of(body: bytes, unread: list[str]) -> tuple[list[SupportedImage], str | None]:
    """Returns the images of a page that are of the marketplace.

    An invalid one is logged, added to `unread`, and affects no other.
    Raises one of NONSENSE for an invalid page.
    """
    page = _PAGE.decode(body)
    return [image for raw in page.value for image in _image_in(raw, unread)], page.link


def _image_in(raw: Raw, unread: list[str]) -> Iterator[SupportedImage]:
    try:
        row = _IMAGE.decode(raw)
    except NONSENSE as error:
        _LOG.warning("An image in Batch's list of supported images is left out: %r", error)
        unread.append("one without a name or a node agent")
        return
    of = row.reference
    if of.publisher and of.offer and of.sku:
        name = f"{of.publisher}/{of.offer}/{of.sku}"
        yield SupportedImage(name, row.agent, _day(name, row.ends, unread))


def _day(image: str, sent: Any, unread: list[str]) -> date | None:
    """Returns the day of a stamp, None where there is none or it can't be read."""
    try:
        moment = maybe_time(sent)
    except (*NONSENSE, AttributeError) as error:
        _LOG.warning("The end of Batch's support of the image %s isn't known: %r", image, error)
        unread.append(image)
        return None
    return moment.date() if moment else None
