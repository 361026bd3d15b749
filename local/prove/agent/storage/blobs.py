"""Containers under proof: made, read, deleted and made again."""

from collections import defaultdict
from collections.abc import Iterable

from azure.storage.blob import BlobServiceClient

from local.azurite import ACCOUNT
from local.prove.agent.judging.sessions import StoredBlob
from local.prove.agent.storage.limited_storage import Storage


class ContainerLives:
    """Containers, and the blobs of deleted ones."""

    def __init__(self, service: BlobServiceClient, storage: Storage, names: Iterable[str]) -> None:
        self._service, self._storage = service, storage
        self._lives = dict.fromkeys(names, 0)
        self._gone: defaultdict[str, list[StoredBlob]] = defaultdict(list)
        for name in self._lives:
            service.create_container(name)

    def delete(self, name: str) -> None:
        """Deletes a container between two requests; its blobs are kept for the judge."""
        with self._storage.lock(name):
            self._gone[name] += self._present(name)
            self._service.delete_container(name)

    def create_again(self, name: str) -> None:
        self._lives[name] += 1
        self._service.create_container(name)

    def blobs(self, name: str) -> list[StoredBlob]:
        """Returns the blobs of all lives of a container."""
        return [*self._gone[name], *self._present(name)]

    def _present(self, name: str) -> list[StoredBlob]:
        container = self._service.get_container_client(name)
        return [self._read(name, blob) for blob in sorted(container.list_blob_names())]

    def _read(self, container: str, name: str) -> StoredBlob:
        answer = self._service.get_blob_client(container, name).download_blob()
        path = f"/{ACCOUNT}/{container}/{name}"
        return StoredBlob(path, answer.readall(), path in self._storage.sealed, self._lives[container])
