"""`python -m local.machine_node`: plays the node of a pool with this machine until it is stopped."""

import argparse
import asyncio
import logging
import os
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from azure.batch.aio import BatchClient
from azure.batch.models import BatchNode
from azure.core.exceptions import AzureError, ResourceExistsError
from azure.storage.blob import BlobServiceClient

from local.dev.packaging.agent_file import write_agent
from local.machine_node.task_processes import TaskProcesses, TaskRun
from local.signatures import signed
from local.stop_signals import cancel_on_signals
from local.workload.target import TargetError, check_target, open_client

LOG = logging.getLogger("machine")
_CONTAINER = "telemetry"
_POLL_SECONDS = 1.0
_PATIENCE = 2.5  # seconds for the agent's last flush; the stack gives its programs three to end
_VALID_SECONDS = 30 * 86_400.0
_STATES = ("waitingforstarttask", "idle", "running", "offline")
_ROOT = Path(__file__).parents[2]


class MachineNode:
    """The node as it is played now: its agent and the processes of its tasks."""

    def __init__(self, options: argparse.Namespace, node: str, program: Path) -> None:
        self.id = node
        self._folder = Path(options.folder) / node
        shared = self._folder / "shared"
        shared.mkdir(parents=True, exist_ok=True)
        variables = {
            "AZ_BATCH_ACCOUNT_NAME": options.account,
            "AZ_BATCH_POOL_ID": options.pool,
            "AZ_BATCH_NODE_ID": node,
            "AZ_BATCH_NODE_ROOT_DIR": str(self._folder),
            "AZ_BATCH_NODE_SHARED_DIR": str(shared),
        }
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("AZ_BATCH_", "BATCHSCOPE_"))}
        self._tasks = TaskProcesses(variables, plain, self._folder)
        with BlobServiceClient.from_connection_string(options.storage) as storage:
            container = storage.get_container_client(_CONTAINER).url
        address = {"BATCHSCOPE_STORAGE": f"{container}?{signed(_CONTAINER, _VALID_SECONDS)}"}
        times = [f"--interval={options.interval:g}", f"--flush={options.flush:g}", f"--imds={options.emulator}"]
        self._command = [sys.executable, str(program), "run", *times]
        self._environment = {**plain, **variables, **address}
        self._agent = self._started_agent()

    def follow(self, node: BatchNode) -> None:
        """Runs processes for the tasks that run on the node, and the agent anew where it has ended."""
        recent = [one for one in node.recent_tasks or () if one.task_state == "running"]
        self._tasks.follow([TaskRun(one.job_id or "", one.task_id or "", _start_of(one)) for one in recent])
        if self._agent.poll() is not None:
            LOG.warning("The agent ended with exit code %s; starting it again.", self._agent.returncode)
            self._agent = self._started_agent()

    def _started_agent(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, env=self._environment, stdin=subprocess.DEVNULL)

    def close(self) -> None:
        """Ends the processes, then the agent, which sends the rest before."""
        self._tasks.close()
        self._agent.terminate()
        try:
            self._agent.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._agent.kill()


def main() -> int:
    """Returns the exit code, which is 0 after a stop signal."""
    options = _parser().parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s")
    logging.getLogger("azure").setLevel(logging.ERROR)
    if platform.system() != "Linux":
        print("The agent runs on Linux only.", file=sys.stderr)
        return 2
    try:
        check_target(options.emulator)
        asyncio.run(_run(options))
    except TargetError as error:
        print(error, file=sys.stderr)
        return 1
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0
    return 0


async def _run(options: argparse.Namespace) -> None:
    cancel_on_signals()
    shutil.rmtree(options.folder, ignore_errors=True)  # of earlier runs, whose storage was at another address
    program = Path(options.folder) / "batchscope-agent.pyz"
    write_agent(_ROOT, program)
    with BlobServiceClient.from_connection_string(options.storage) as storage, suppress(ResourceExistsError):
        storage.create_container(_CONTAINER)
    played: MachineNode | None = None
    try:
        async with open_client(options.emulator, options.account, options.key) as client:
            while True:
                node = await _node(client, options.pool)
                if played and (node is None or node.id != played.id):
                    played.close()
                    played = None
                if node and not played:
                    LOG.info("This machine is the node %s.", node.id)
                    played = MachineNode(options, str(node.id), program)
                if node and played:
                    try:
                        played.follow(node)
                    except OSError as error:  # such as a full disk, which mustn't end the demo
                        LOG.warning("Processes can't be started: %s.", error)
                await asyncio.sleep(_POLL_SECONDS)
    finally:
        if played:
            played.close()


async def _node(client: BatchClient, pool: str) -> BatchNode | None:
    """Returns the oldest node of a pool that has booted; None while there is none, or the emulator doesn't answer."""
    try:
        found = [node async for node in client.list_nodes(pool) if node.state in _STATES and node.allocation_time]
    except AzureError as error:
        LOG.debug("Couldn't ask for the node: %s.", error)
        return None
    return min(found, key=lambda node: (node.allocation_time, node.id), default=None)


def _start_of(task: object) -> str:
    info = getattr(task, "execution_info", None)
    return str(info.start_time) if info else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.machine_node",
        description="Plays a node of an emulated pool with this machine: the real agent measures real processes.",
    )
    add = parser.add_argument
    add("--emulator", required=True, metavar="URL", help="the emulator, as http://127.0.0.1:PORT")
    add("--account", required=True, metavar="NAME", help="the Batch account's name")
    add("--key", required=True, help="the account's key, in base64")
    add("--storage", required=True, metavar="STRING", help="the connection string of the storage for telemetry")
    add("--pool", default="this-machine", metavar="ID", help="the pool (default: %(default)s)")
    add("--folder", required=True, help="for the agent's spool and the processes' files; it is emptied first")
    add("--interval", type=float, default=5.0, metavar="SECONDS", help="between two samples (default: %(default)s)")
    add("--flush", type=float, default=15.0, metavar="SECONDS", help="between two uploads (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
