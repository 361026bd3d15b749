"""Files of tasks and nodes: folders and parts of files, read from Batch now and shown without secrets.

Requests follow the conditions of a poll: not while monitoring is off or the service requests back-off, and within the
account's limit of calls. Names from clients become part of a URL only where they can be names in Batch.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.files.file_parts import Part, encoding_of, shown_part
from shared.domain.files.files import WHY_NO_FILES, FileEntry, FileFacts, folder_entries, path_of
from shared.domain.outputs.failed_starts import FILES
from shared.domain.outputs.kept_outputs import STREAMS, KeptOutput
from shared.domain.tasks.tasks import COMPLETED
from shared.errors import BatchMissingError, FileMissingError, NotFoundError
from shared.services.accounts.registry import Registry, found
from shared.services.files.kept_start_outputs import KeptStartOutputs
from shared.services.queries.queries import Queries
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import NO_FILE, BatchFiles, FileOwner, files_of_node, files_of_task
from shared.stores.jobs.outputs import OutputStore

_POOL_OR_TASK, _NODE = re.compile(r"[A-Za-z0-9_-]{1,64}"), re.compile(r"[A-Za-z0-9_-]{1,128}")
_STILL = timedelta(minutes=10)
"""A file that hasn't changed for so long counts as written to its end, where no task says it."""


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What is in a folder; `is_whole` False where it has more than one answer lists."""

    entries: Sequence[FileEntry]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file as it is shown: `content` begins at `start`. `encoding` is None for a file that is no text.

    Only of a text are secrets masked. `end` is where the next part begins: before the last line of a file that grows.
    """

    facts: FileFacts
    path: str
    start: int
    content: bytes
    encoding: str | None
    kept_at: datetime | None = None
    """When the part was kept, where Batch has the file no more."""

    @property
    def end(self) -> int:
        return self.start + len(self.content)


@dataclass(frozen=True, slots=True)
class _Owner:
    """What has files, its account, and whether it writes no more to them; None where that isn't known.

    `ended` is when a task's last run did, in milliseconds since 1970.
    """

    source: BatchAccount
    files: FileOwner
    has_ended: bool | None = None
    ended: int = 0


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files of all accounts; `sources` are keyed by account id."""

    sources: Mapping[str, BatchAccount]
    queries: Queries
    tasks: TaskQueries
    registry: Registry
    outputs: OutputStore
    starts: KeptStartOutputs

    async def task_folder(self, account_id: str, job_id: str, task_id: str, folder: str) -> FolderReport:
        """Returns what is in a folder of a task's files, "" for all of its own.

        Raises NotFoundError, also where the node with the files is gone; MonitoringOffError, BatchError.
        """
        return await self._folder(await self._task(account_id, job_id, task_id), folder)

    async def node_folder(self, account_id: str, pool_id: str, node_id: str, folder: str) -> FolderReport:
        """Returns what is in a folder of a node's files. Raises the errors of `task_folder`."""
        return await self._folder(await self._node(account_id, pool_id, node_id), folder)

    async def task_file(
        self, account_id: str, job_id: str, task_id: str, path: str, wanted: Callable[[int], Part]
    ) -> FilePart:
        """Returns the part of a task's file that is wanted of its size. Raises the errors of `task_folder`.

        Of a failed task's output it is a part of the end that was kept, where Batch has it no more.
        """
        owner = await self._task(account_id, job_id, task_id)
        try:
            return await self._part(owner, path, wanted)
        except FileMissingError:
            kept = await self.outputs.load(owner.source.account.key, key_of(job_id), key_of(task_id))
            if kept is None or path not in STREAMS or kept.run.ended != owner.ended or kept.tail(path).reason:
                raise
            return _kept_part(kept, path, path, wanted)

    async def node_file(
        self, account_id: str, pool_id: str, node_id: str, path: str, wanted: Callable[[int], Part]
    ) -> FilePart:
        """Returns the part of a node's file that is wanted of its size. Raises the errors of `task_folder`.

        Of a failed start task's output it is a part of the end that was kept, where Batch has it no more.
        """
        owner, name = await self._node(account_id, pool_id, node_id), path_of(path)
        try:
            return await self._part(owner, path, wanted)
        except FileMissingError:
            kept = await self.starts.latest(account_id, pool_id, node_id) if name in FILES else None
            if kept is None or name is None or kept.tail(stream := STREAMS[FILES.index(name)]).reason:
                raise
            return _kept_part(kept, stream, name, wanted)

    async def _task(self, account_id: str, job_id: str, task_id: str) -> _Owner:
        source, report = found(self.sources, account_id), await self.queries.job(account_id, job_id)
        job, is_deleted = report.job.facts.id, report.job.deleted
        if is_deleted or not _POOL_OR_TASK.fullmatch(task_id):
            raise NotFoundError("task", task_id, f" in the job '{job}'{', which was deleted' * is_deleted}")
        await self.registry.require_polling_allowed(source.account)
        cached = await self.tasks.task(account_id, job_id, key_of(task_id))
        files = files_of_task(job, task_id)
        return (
            _Owner(source, files, cached.state == COMPLETED, cached.end or cached.transition)
            if cached
            else _Owner(source, files)
        )

    async def _node(self, account_id: str, pool_id: str, node_id: str) -> _Owner:
        source = found(self.sources, account_id)
        if not _POOL_OR_TASK.fullmatch(pool_id) or not _NODE.fullmatch(node_id):
            raise NotFoundError("node", node_id, f" in the pool '{pool_id}'")
        await self.registry.require_polling_allowed(source.account)
        return _Owner(source, files_of_node(pool_id, node_id))

    async def _folder(self, owner: _Owner, folder: str) -> FolderReport:
        path = path_of(folder)
        if folder and path is None:
            raise _no_file(folder, owner)
        try:
            listed, is_whole = await BatchFiles(owner.source).fetch_entries(owner.files, path or "")
        except BatchMissingError as error:
            raise _gone(error, owner, folder) from error
        if path and not listed:
            raise _no_file(folder, owner)
        return FolderReport(folder_entries(path or "", listed), is_whole)

    async def _part(self, owner: _Owner, given: str, wanted: Callable[[int], Part]) -> FilePart:
        path, files = path_of(given), BatchFiles(owner.source)
        if path is None:
            raise _no_file(given, owner)
        try:
            facts = await files.fetch_facts(owner.files, path)
            if facts.is_folder:
                raise FileMissingError(f"'{path}' is a folder; what is in it has the address files?folder={path}.")
            part = wanted(facts.size)
            read = part.with_context(facts.size)
            content = await files.fetch_part(owner.files, path, read)
        except BatchMissingError as error:
            raise _gone(error, owner, path) from error
        own = content[part.start - read.start : part.end - read.start]
        encoding = encoding_of(content)
        if encoding is None:
            return FilePart(facts, path, part.start, own, None)
        grows = await self._grows(owner, facts)
        shown = await asyncio.to_thread(shown_part, content, read, part, grows=grows)
        return FilePart(facts, path, part.start, shown, encoding)

    async def _grows(self, owner: _Owner, facts: FileFacts) -> bool:
        if owner.has_ended or facts.last_modified is None:
            return not owner.has_ended
        return owner.has_ended is False or await self.registry.clock.now() - facts.last_modified < _STILL


def _kept_part(kept: KeptOutput, stream: str, path: str, wanted: Callable[[int], Part]) -> FilePart:
    tail = kept.tail(stream)
    start, content = tail.within(wanted(tail.size))
    return FilePart(FileFacts(tail.size, None), path, start, content, tail.encoding, kept.kept_at)


def _no_file(path: str, owner: _Owner) -> FileMissingError:
    return FileMissingError(f"There is no '{path}' among the files of {owner.files.noun}.")


def _gone(error: BatchMissingError, owner: _Owner, path: str) -> FileMissingError:
    """Returns why there is no file, in words for the service's error code."""
    if error.code == NO_FILE:
        return _no_file(path, owner)
    return FileMissingError(f"There are no files of {owner.files.noun}: {WHY_NO_FILES[error.code]} ({error.code}).")
