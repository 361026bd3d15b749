"""Errors that make nodes unusable, where all nodes report the same one, and advice for each.

Source: "Azure Batch pool and node errors": a node is unusable where an application package can't be downloaded or
unpacked, a container image can't be pulled, or its disk is full. Codes are matched by prefix, as the page has no
complete list.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shared.domain.nodes.node_causes import DISK_FULL
from shared.domain.nodes.nodes import Node


class NodeProblem(NamedTuple):
    title: str
    advice: str


_BY_CODE = {
    "applicationpackage": NodeProblem(
        "an application package can't be installed",
        "See that the application and its version are in the Batch account, that its package is in the storage account "
        "linked to it, and that nodes can reach that; correct the pool's applicationPackageReferences.",
    ),
    "container": NodeProblem(
        "a container image can't be pulled",
        "See that the image and its tag are in the registry, that the pool's identity or password may pull it, and "
        "that nodes can reach the registry.",
    ),
    DISK_FULL: NodeProblem(
        "the disk is full",
        "Take a VM size with a larger disk, and let tasks keep their files for a shorter time (retentionTime).",
    ),
}


def common_problem(nodes: Sequence[Node]) -> NodeProblem | None:
    """Returns the error common to all of these nodes; None for different or unlisted errors."""
    found = {_problem(node) for node in nodes}
    return found.pop() if len(found) == 1 else None


def _problem(node: Node) -> NodeProblem | None:
    codes = [error.code.lower() for error in node.errors]
    found = (problem for start, problem in _BY_CODE.items() if any(code.startswith(start) for code in codes))
    return next(found, None)
