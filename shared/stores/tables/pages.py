"""What the lists of the storage SDKs hold, page by page, each page freed once it was read.

A pager of these SDKs keeps methods of its own, and with them its last page: a reference cycle, which only the garbage
collector ends. That counts objects and not bytes, so pages would pile up until there are enough of them: 750 KB for a
list of a hundred blobs. Therefore a pager is emptied here as soon as nobody reads on.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from azure.core.exceptions import AzureError

from shared.domain.core.next_links import NextLinks


async def pages_of(listed: Any, marker: str | None = None) -> AsyncGenerator[tuple[list[Any], str | None]]:
    """Each page of an `AsyncItemPaged`, with the marker that the next begins at, None on the last.

    Raises what the SDK raises, and AzureError where a marker comes twice, as such a list never ends.
    """
    pager, markers = listed.by_page(continuation_token=marker), NextLinks()
    try:
        async for page in pager:
            if markers.is_repeat(pager.continuation_token or None):
                raise AzureError("storage sent a marker of the next page twice, so the list never ends")
            yield [item async for item in page], pager.continuation_token or None
    finally:
        vars(pager).clear()


async def items_of(listed: Any) -> AsyncGenerator[Any]:
    """All that is listed, in its order. Raises what the SDK raises."""
    async with aclosing(pages_of(listed)) as pages:
        async for page, _ in pages:
            for item in page:
                yield item
