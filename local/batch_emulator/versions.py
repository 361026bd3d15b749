"""The api-versions that are answered, and what differs between them.

Sources: the change logs of the clients that send them, and recorded answers of 2022-01-01.15.0. Certificates, which
older versions still name, were retired in February 2024: an empty list of them is taken, any other is not.
"""

VERSIONS = (
    "2022-01-01.15.0",
    "2022-10-01.16.0",
    "2023-05-01.17.0",
    "2023-11-01.18.0",
    "2024-02-01.19.0",
    "2024-07-01.20.0",
    "2025-06-01",
)
_LATEST = VERSIONS[-1]
_COMMUNICATION_SINCE = "2022-10-01.16.0"
_TAGS_SINCE = "2023-11-01.18.0"
_UPGRADING_SINCE = "2024-02-01.19.0"
_DEALLOCATED_SINCE = "2024-07-01.20.0"


def has_communication_mode(version: str) -> bool:
    """Whether pools tell how their nodes communicate with the service."""
    return _COMMUNICATION_SINCE <= version < _LATEST


def has_certificates(version: str) -> bool:
    return version < _LATEST


def has_resource_tags(version: str) -> bool:
    """Whether pools may be sent tags for what Azure makes for them."""
    return _TAGS_SINCE <= version < _LATEST


def has_token_settings(version: str) -> bool:
    """Whether tasks may be sent what a token of theirs opens."""
    return version < _LATEST


def hidden_node_states(version: str) -> frozenset[str]:
    """Node states that a version's node counts don't have."""
    hidden = {"upgradingOS"} if version < _UPGRADING_SINCE else set()
    return frozenset(hidden | ({"deallocated", "deallocating"} if version < _DEALLOCATED_SINCE else set()))
