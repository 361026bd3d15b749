"""Reads files of tasks and nodes of one Batch account: which there are, their size, and parts of them.

Batch asks the node for each of them, so they are there as long as the node is.
"""

from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import quote

from msgspec import Struct
from msgspec.json import Decoder

from shared.domain.core.stamps import http_date
from shared.domain.files.file_parts import Part
from shared.domain.files.files import FileEntry, FileFacts
from shared.errors import BatchAnswerError, BatchMissingError
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_addresses import query_of, task_url
from shared.stores.batch.batch_lists import BatchLists
from shared.stores.batch.batch_pool_rows import maybe_time
from shared.stores.batch.batch_rows import Rows

NO_FILE = "FileNotFound"
NO_FILES = (
    NO_FILE,
    "JobNotFound",
    "NodeNotFound",
    "NodeNotReady",
    "NodeStateUnusable",
    "PoolNotFound",
    "TaskFilesCleanedup",
    "TaskFilesUnavailable",
    "TaskNotFound",
)
_NO_CODE = ""  # the response to a HEAD has no body that could have one
_MAX_PAGES = 3


class _Properties(Struct, rename="camel"):
    content_length: str | int | None = None
    last_modified: str | None = None


class _File(Struct, rename="camel"):
    name: str
    is_directory: bool = False
    properties: _Properties | None = None


_FILES = Decoder(Rows[_File])


@dataclass(frozen=True, slots=True)
class FileOwner:
    """What has files: a task, or a node; `noun` names it in sentences."""

    url: str
    noun: str

    def file_url(self, path: str) -> str:
        return f"{self.url}/{quote(path, safe='')}?{query_of((), page=False)}"


def files_of_task(job_id: str, task_id: str) -> FileOwner:
    return FileOwner(f"{task_url(job_id, task_id)}/files", f"the task '{task_id}' of '{job_id}'")


def files_of_node(pool_id: str, node_id: str) -> FileOwner:
    pool, node = quote(pool_id, safe=""), quote(node_id, safe="")
    return FileOwner(f"/pools/{pool}/nodes/{node}/files", f"the node '{node_id}' of '{pool_id}'")


class BatchFiles(BatchLists):
    """Files of one account; each request counts towards the account's limit of calls."""

    def __init__(self, source: BatchAccount) -> None:
        super().__init__(source, explains=False)

    async def fetch_entries(self, owner: FileOwner, folder: str) -> tuple[list[FileEntry], bool]:
        """Returns files and folders at any depth of a folder ("": at the root only), and whether these are all.

        Raises BatchMissingError where there are none any more, BatchError.
        """
        name = f"{folder}/".replace("'", "''")
        below = query_of((), f"startswith(name,'{name}')", recursive="true")
        url = f"{owner.url}?{below if folder else query_of(())}"
        found, requests = list[FileEntry](), 0
        async with aclosing(self.each_page(url, f"list the files of {owner.noun}", _page, missing=NO_FILES)) as pages:
            async for page, _ in pages:
                found, requests = found + list(map(_entry, page.value)), requests + 1
                if page.link and requests == _MAX_PAGES:
                    return found, False
        return found, True

    async def fetch_facts(self, owner: FileOwner, path: str) -> FileFacts:
        """Returns the size of a file. Raises BatchMissingError with the reason where it isn't there, BatchError."""
        intent, self.calls = f"get the size of '{path}' of {owner.noun}", self.calls + 1
        try:
            _, headers = await self.source.answer(
                "HEAD", owner.file_url(path), intent, {}, missing=(_NO_CODE, *NO_FILES)
            )
        except BatchMissingError as error:
            await self.fetch_entries(owner, "")  # raises the reason where no file is there any more
            raise BatchMissingError(f"There is no '{path}'.", code=NO_FILE) from error
        size, modified = headers.get("Content-Length") or "", http_date(headers.get("Last-Modified"))
        if (headers.get("ocp-batch-file-isdirectory") or "").lower() == "true":
            return FileFacts(0, modified, is_folder=True)
        if not size.isdecimal():
            raise BatchAnswerError(f"{self.account.endpoint} sent no length to the request to {intent}.")
        return FileFacts(int(size), modified)

    async def fetch_part(self, owner: FileOwner, path: str, part: Part) -> bytes:
        """Returns a part of a file, less where it has become shorter. Raises BatchMissingError, BatchError."""
        if not part.length:
            return b""
        self.calls += 1
        body, _ = await self.source.answer(
            "GET",
            owner.file_url(path),
            f"read '{path}' of {owner.noun}",
            {"ocp-range": f"bytes={part.start}-{part.end - 1}"},
            missing=NO_FILES,
            most=part.length,
        )
        return body


def _page(body: bytes) -> tuple[Rows[_File], str | None]:
    rows = _FILES.decode(body)
    return rows, rows.link


def _entry(row: _File) -> FileEntry:
    path, of = row.name.replace("\\", "/").strip("/"), row.properties or _Properties()
    size = int(of.content_length) if of.content_length is not None and not row.is_directory else None
    return FileEntry(path, row.is_directory, size, maybe_time(of.last_modified))
