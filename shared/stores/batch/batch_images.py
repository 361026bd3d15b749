"""Reads the images of the marketplace that Batch supports in an account's region. Field names: REST 2025-06-01."""

from datetime import date

from msgspec import Struct
from msgspec.json import Decoder

from shared.domain.retirements.supported_images import SupportedImage, SupportedImages
from shared.errors import BatchAnswerError
from shared.stores.batch.batch_addresses import query_of
from shared.stores.batch.batch_lists import BatchLists
from shared.stores.batch.batch_pool_rows import maybe_time
from shared.stores.batch.batch_rows import Rows

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
    ends: str | None = None


_PAGE = Decoder(Rows[_Image])


class BatchImages(BatchLists):
    """The images of one account."""

    async def fetch_images(self) -> SupportedImages:
        """Returns all supported images with the date of the list. Raises BatchError."""
        found = await self.pages(_URL, "list supported images", _images_of)
        as_of = found[0][1]
        if as_of is None:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of supported images that bears no date.")
        return SupportedImages(as_of, tuple(image for page, _ in found for image in page))


def _images_of(body: bytes) -> tuple[list[SupportedImage], str | None]:
    """Returns the images of a page that are of the marketplace. Raises one of NONSENSE for an invalid page."""
    page = _PAGE.decode(body)
    named = ((row, row.reference) for row in page.value)
    images = [
        SupportedImage(f"{of.publisher}/{of.offer}/{of.sku}", row.agent, _day(row.ends))
        for row, of in named
        if of.publisher and of.offer and of.sku
    ]
    return images, page.link


def _day(text: str | None) -> date | None:
    moment = maybe_time(text)
    return moment.date() if moment else None
