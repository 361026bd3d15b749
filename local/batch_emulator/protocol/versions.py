"""The supported api-versions, and their differences other than names, which are in `older_names`.

Sources: the change logs and models of the clients that send them, and recorded responses of 2022-01-01.15.0.
Certificates, which older versions still name, were retired in February 2024: only an empty list of them is accepted.
Pools of Cloud Services, retired then as well, are not supported.
"""

VERSIONS = (
    "2018-03-01.6.1",
    "2018-08-01.7.0",
    "2018-12-01.8.0",
    "2019-06-01.9.0",
    "2019-08-01.10.0",
    "2020-03-01.11.0",
    "2020-09-01.12.0",
    "2021-06-01.14.0",
    "2022-01-01.15.0",
    "2022-10-01.16.0",
    "2023-05-01.17.0",
    "2023-11-01.18.0",
    "2024-02-01.19.0",
    "2024-07-01.20.0",
    "2025-06-01",
    "2026-10-01",
)
_VALIDATED_UNTIL = "2018-08-01.7.0"
_TRAFFIC_UNTIL = "2018-12-01.8.0"
_IMAGES_SINCE = "2019-06-01.9.0"
_SLOT_COUNTS_SINCE = "2020-09-01.12.0"
_COMMUNICATION_SINCE = "2022-10-01.16.0"
_TAGS_SINCE = "2023-11-01.18.0"
_UPGRADING_SINCE = "2024-02-01.19.0"
_DEALLOCATED_SINCE = "2024-07-01.20.0"
_REMOVED_SINCE = "2025-06-01"
_SEVERAL_SIZES_SINCE = "2026-10-01"


def has_validation_status(version: str) -> bool:
    """Whether task counts state that they were compared with the tasks."""
    return version < _VALIDATED_UNTIL


def has_pool_traffic(version: str) -> bool:
    """Whether pool usage includes the traffic into and out of the data centre."""
    return version < _TRAFFIC_UNTIL


def has_supported_images(version: str) -> bool:
    """Whether images are listed, rather than node agents with their images."""
    return version >= _IMAGES_SINCE


def has_slot_counts(version: str) -> bool:
    """Whether task counts come with slot counts."""
    return version >= _SLOT_COUNTS_SINCE


def has_communication_mode(version: str) -> bool:
    """Whether pools show their nodes' communication mode with the service."""
    return _COMMUNICATION_SINCE <= version < _REMOVED_SINCE


def has_certificates(version: str) -> bool:
    return version < _REMOVED_SINCE


def has_resource_tags(version: str) -> bool:
    """Whether pools accept tags for the Azure resources created for them."""
    return _TAGS_SINCE <= version < _REMOVED_SINCE


def has_token_settings(version: str) -> bool:
    """Whether tasks accept settings of their authentication token."""
    return version < _REMOVED_SINCE


def has_several_sizes(version: str) -> bool:
    """Whether pools may have several VM sizes, and vCPUs of their own."""
    return version >= _SEVERAL_SIZES_SINCE


def deallocation_options(version: str) -> tuple[str, ...]:
    """Returns the options for tasks on nodes that are removed or restarted."""
    options = ("requeue", "terminate", "taskcompletion")
    return options if version >= _SEVERAL_SIZES_SINCE else (*options, "retaineddata")


def has_pool_usage(version: str) -> bool:
    """Whether the usage of pools can be listed."""
    return version < _SEVERAL_SIZES_SINCE


def hidden_node_states(version: str) -> frozenset[str]:
    """Returns the node states that a version's node counts lack."""
    hidden = {"upgradingOS"} if version < _UPGRADING_SINCE else set()
    return frozenset(hidden | ({"deallocated", "deallocating"} if version < _DEALLOCATED_SINCE else set()))
