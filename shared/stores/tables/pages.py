"""Lists of the storage SDKs page by page, where each page is freed once it was read.

A pager of these SDKs keeps bound methods of its own, and with them its last page: a reference cycle that only the
garbage collector ends. As that counts objects and not bytes, pages would pile up: 750 KB for a list of a hundred blobs.
So a pager is emptied here as soon as its reader stops.
"""

from collections.abc import AsyncGenerator
from typing import Any

from azure.core.exceptions import AzureError

from shared.domain.core.next_links import NextLinks


async def pages_of(listed: Any, marker: str | None = None) -> AsyncGenerator[tuple[list[Any], str | None]]:
    """Yields each page of an `AsyncItemPaged`, with the marker of the next, None on the last.

    Raises the SDK's errors, and AzureError for a repeated marker, as such a list never ends.
    """
    pager, markers = listed.by_page(continuation_token=marker), NextLinks()
    try:
        async for page in pager:
            following = pager.continuation_token or None
            if following and markers.is_repeat(following):
                raise AzureError("storage sent a marker of the next page twice, so the list never ends")
            yield [item async for item in page], following
    finally:
        vars(pager).clear()
