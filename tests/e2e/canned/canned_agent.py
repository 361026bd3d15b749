"""The node agent of a pool in the API's JSON, for the canned server."""

from collections.abc import Sequence
from typing import Any

from tests.e2e.canned.canned_values import stamp

SHA = "5e1f" * 16
RESTART = "A changed start task reaches only nodes that start again."
IDENTITIES = "Only Azure's management plane sets the identities of a pool."


def agent_offer(**changes: Any) -> dict[str, Any]:
    address = "https://store.blob.core.windows.net/agent/batchscope-agent.pyz"
    return {
        "account": "demo",
        "pool": "render-d4s",
        "file": {"version": "0.2.0", "sha256": SHA, "size": 93_804, "address": address, "uploaded": True},
        "storage": "https://store.blob.core.windows.net/telemetry",
        "included": False,
        "commandLine": "/bin/sh -c 'python3 batchscope-agent.pyz start || true'",
        "environment": {},
        "keptVariables": [],
        "forms": {
            "bicep": "param identityId string\n\nvar startTask = {\n  waitForSuccess: true\n}\n",
            "azBatch": '{\n  "startTask": {\n    "waitForSuccess": true\n  }\n}\n',
            "python": 'import os\n\nFILE_SAS = os.environ["FILE_SAS"]\n',
        },
        "notes": [RESTART, IDENTITIES],
    } | changes


def agent_node(name: str, reason: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Returns a node that reports, or one that is silent for a reason."""
    return {
        "id": name,
        "state": "idle",
        "reporting": reason is None,
        "seen": stamp(60 if reason is None else 7_200),
        "agentVersion": "0.2.0",
        "agentBegan": stamp(9_000),
        "waitingBytes": 2_048 if reason is None else None,
        "droppedRecords": 0 if reason is None else None,
        "reason": reason,
    } | changes


def silence(**changes: Any) -> dict[str, Any]:
    return {
        "code": "agentStopped",
        "scope": "node",
        "severity": "limiting",
        "title": "The node reported before",
        "detail": "The agent ended since, or storage takes nothing from it.",
        "evidence": {},
        "advice": "Run `python3 batchscope-agent.pyz status` on the node and read its log.",
        "since": None,
        "amount": None,
        "link": None,
    } | changes


def agent_nodes(nodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the reports of a pool's nodes, in which every fourth is silent."""
    return [agent_node(one["id"], silence() if number % 4 == 3 else None) for number, one in enumerate(nodes)]


def selected(rows: Sequence[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Returns the nodes that report or those that don't, where a request asks for them."""
    wanted = query.get("reporting")
    return [one for one in rows if wanted is None or one["reporting"] == (wanted[0] == "true")]


def counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    return {"listed": len(rows), "reporting": sum(one["reporting"] for one in rows)}
