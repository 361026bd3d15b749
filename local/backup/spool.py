"""The rows of one partition until all are as of one moment; large partitions spill to disk."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Self

_IN_MEMORY = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Stored:
    etag: str
    offset: int
    size: int


@dataclass(slots=True)
class Spool:
    """Lines by row key, each with its row's ETag; a changed row is put again."""

    _file: SpooledTemporaryFile[bytes] = field(default_factory=lambda: SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115  # closed below
    _stored: dict[str, _Stored] = field(default_factory=dict)
    _size: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def etags(self) -> dict[str, str]:
        return {key: stored.etag for key, stored in self._stored.items()}

    def put(self, row_key: str, etag: str, line: bytes) -> None:
        self._file.seek(self._size)
        self._file.write(line)
        self._stored[row_key] = _Stored(etag, self._size, len(line))
        self._size += len(line)

    def drop(self, row_key: str) -> None:
        self._stored.pop(row_key, None)

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yields row keys and lines, in key order."""
        for key in sorted(self._stored):
            stored = self._stored[key]
            self._file.seek(stored.offset)
            yield key, self._file.read(stored.size)
