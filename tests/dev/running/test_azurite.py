"""The shared Azurite answers on all three services with the client libraries that the app uses."""

from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from local.azurite import StorageAddresses


def test_all_three_services_answer(azurite: StorageAddresses) -> None:
    with TableServiceClient.from_connection_string(azurite.connection_string) as tables:
        tables.create_table("azuriteanswers")
        assert "azuriteanswers" in {table.name for table in tables.list_tables()}
    with BlobServiceClient.from_connection_string(azurite.connection_string) as blobs:
        assert blobs.get_service_properties()
    with QueueServiceClient.from_connection_string(azurite.connection_string) as queues:
        assert queues.get_service_properties()


def test_each_service_has_a_port_of_its_own(azurite: StorageAddresses) -> None:
    assert len({azurite.blob_port, azurite.queue_port, azurite.table_port}) == 3
