"""Lists the images that Batch supports, once a day for each account, for the retirements in that list."""

from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.retirements.supported_images import SupportedImages
from shared.errors import BatchError, CacheConflictError
from shared.log import logger
from shared.stores.accounts.supported_images import SupportedImageStore
from shared.stores.batch.batch_images import BatchImages

_LOG = logger(__name__)
_INTERVAL, _AFTER_FAILURE = timedelta(days=1), timedelta(hours=1)


class ImageReader:
    """Refreshes an account's images; hosts share one list, and this one remembers when the next is due."""

    def __init__(self, source: BatchImages, images: SupportedImageStore) -> None:
        self._source = source
        self._images = images
        self._due: datetime | None = None

    async def refresh(self, now: datetime) -> None:
        """Lists the images if that is due; a failure is stored, and repeated after an hour. Raises StorageError."""
        if self._due and now < self._due:
            return
        key = self._source.account.key
        stored = await self._images.load(key)
        if stored and stored.as_of and now < stored.as_of + _INTERVAL:
            self._due = stored.as_of + _INTERVAL
            return
        self._due = now + _AFTER_FAILURE
        try:
            found = await self._listed(stored or SupportedImages(None))
            if found != stored:
                await self._images.save(key, found)
        except CacheConflictError:
            _LOG.info("Another host listed the supported images of %s.", self._source.account.id)

    async def _listed(self, stored: SupportedImages) -> SupportedImages:
        """Returns a new list, or the stored one with the reason why there is none."""
        try:
            found = await self._source.fetch_images()
        except BatchError as error:
            _LOG.warning("Supported images of %s can't be listed: %s", self._source.account.id, error)
            return stored.failed(str(error))
        return replace(found.after(stored), etag=stored.etag)
