"""The manifest of a backup: the content of each blob, by counts and hashes, and the progress.

It is written after the blobs that it lists, with If-Match. So the state of a killed backup is known, and of two
processes that write the same backup one gives up.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob.aio import ContainerClient

from local.dev.system.console import Failure

FORMAT = 1
NAME = "manifest.json"
type Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Segment:
    """One blob: `rows` lines of a table up to the key `through`; `whole` if a resume can continue after it."""

    blob: str
    rows: int
    bytes: int
    sha256: str
    hash: str
    through: Key
    whole: bool


@dataclass(frozen=True, slots=True)
class TableCopy:
    """The copy of a table; `unsettled` counts partitions that changed too often to be as of one moment."""

    name: str
    begun: datetime
    finished: datetime | None = None
    segments: tuple[Segment, ...] = ()
    unsettled: int = 0

    @property
    def rows(self) -> int:
        return sum(segment.rows for segment in self.segments)

    @property
    def whole(self) -> "TableCopy":
        """The copy without the blobs of an unfinished partition, which is copied again."""
        segments = list(self.segments)
        while segments and not segments[-1].whole:
            segments.pop()
        return replace(self, segments=tuple(segments))


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest. `version` is that of the app whose `dev.py` wrote it, `prefix` the TABLE_PREFIX of the tables.

    `source` is the name of the tables' storage account; older backups lack it.
    """

    format: int
    version: str
    prefix: str
    begun: datetime
    finished: datetime | None = None
    tables: dict[str, TableCopy] = field(default_factory=dict)
    source: str = ""

    def with_table(self, copy: TableCopy) -> "Manifest":
        return replace(self, tables={**self.tables, copy.name: copy})

    def without(self, *names: str) -> "Manifest":
        return replace(self, tables={name: copy for name, copy in self.tables.items() if name not in names})


class ManifestBlob:
    """The manifest of one backup in a container."""

    def __init__(self, container: ContainerClient, backup: str) -> None:
        self._container = container
        self._backup = backup
        self._etag: str | None = None

    @property
    def name(self) -> str:
        return f"{self._backup}/{NAME}"

    async def load(self) -> Manifest | None:
        """Returns the manifest, None if missing. Raises Failure if it is malformed or of a newer format."""
        try:
            download = await self._container.download_blob(self.name)
            body = await download.readall()
        except ResourceNotFoundError:
            return None
        self._etag = download.properties.etag
        try:
            if (known := msgspec.json.decode(body)["format"]) != FORMAT:
                raise Failure(f"The backup '{self._backup}' has format {known}; this version of dev.py reads {FORMAT}.")
            return msgspec.json.decode(body, type=Manifest)
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise Failure(f"The manifest of the backup '{self._backup}' is damaged: {error}") from error

    async def save(self, manifest: Manifest) -> None:
        """Writes the manifest. Raises Failure on a concurrent write, or if the container forbids overwriting blobs."""
        condition: dict[str, Any] = {"overwrite": False}
        if self._etag:
            condition = {"overwrite": True, "etag": self._etag, "match_condition": MatchConditions.IfNotModified}
        body = msgspec.json.format(msgspec.json.encode(manifest))
        try:
            answer = await self._container.get_blob_client(self.name).upload_blob(body, **condition)
        except (ResourceExistsError, ResourceModifiedError) as error:
            if self._etag and isinstance(error, ResourceExistsError):  # 409, whereas a lost race for an ETag gives 412
                raise Failure(
                    f"The blob {self.name} can't be overwritten: a policy or a legal hold on the container forbids it;"
                    " docs/operations.md says which policies a backup can live with."
                ) from error
            raise Failure(f"Another process writes the backup '{self._backup}'; this one stops.") from error
        self._etag = answer["etag"]
