"""Settings of the agent, from its options and the environment that Batch gives to start tasks and tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from agent.tasks.identity import TaskIdentity

IMDS = "http://169.254.169.254"
MIN_INTERVAL, MAX_INTERVAL = 1.0, 300.0
MIN_FLUSH, MAX_FLUSH = 5.0, 3600.0
DEFAULT_INTERVAL, DEFAULT_FLUSH = 10.0, 120.0
DEFAULT_SPOOL_SIZE = 256 << 20
_FOLDER = "batchscope-agent"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ID = re.compile(r"[\w.\-:]{1,128}")


class SettingsError(Exception):
    """A setting that makes no sense; the message is one sentence that names it and the remedy."""


class Settings(NamedTuple):
    """Measurements of the agent, their interval and their destination; times in seconds, sizes in bytes.

    `container` is the address of a blob container without a query, `sas` the query of a shared access signature, empty
    for a managed identity. `identity` is the client id or resource id of a user-assigned identity, empty for the
    node's only one. `task` is the task that started the agent, None for a start task.
    """

    container: str
    sas: str
    identity: str
    account: str
    pool: str
    node: str
    task: TaskIdentity | None
    folder: str
    imds: str = IMDS
    interval: float = DEFAULT_INTERVAL
    flush: float = DEFAULT_FLUSH
    spool_size: int = DEFAULT_SPOOL_SIZE

    @property
    def prefix(self) -> str:
        """The folder of the container that this node's blobs are in, as the app's TELEMETRY_PATH expects it."""
        return f"accounts/{self.account}/pools/{self.pool}/nodes/{self.node}/agent"


def settings_of(options: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Returns the settings; options precede variables of the environment. Raises SettingsError.

    Options are those of the command line: `storage`, `identity`, `account`, `pool`, `node`, `interval`, `flush`,
    `folder`, `imds`; None stands for an option that isn't given. An address with a signature may be given as
    BATCHSCOPE_STORAGE only, as a command line stands in the list of processes for as long as the agent runs.
    """

    def given(option: str, *variables: str) -> str:
        value = options.get(option)
        found = [str(value)] if value is not None else [environment.get(name, "") for name in variables]
        return next(filter(None, found), "").strip()

    container, sas = _container(given("storage", "BATCHSCOPE_STORAGE"))
    if sas and options.get("storage") is not None:
        raise SettingsError(
            "The signature of the storage must not stand in the command line, which all users of the node can read: "
            "give the address in the variable BATCHSCOPE_STORAGE."
        )
    return Settings(
        container=container,
        sas=sas,
        identity=given("identity", "BATCHSCOPE_IDENTITY", "AZ_BATCH_NODE_MANAGED_IDENTITY"),
        account=_name("account", given("account", "AZ_BATCH_ACCOUNT_NAME")),
        pool=_name("pool", given("pool", "AZ_BATCH_POOL_ID")),
        node=_name("node", given("node", "AZ_BATCH_NODE_ID")),
        task=_task(environment),
        folder=folder_of(options, environment),
        imds=_imds(given("imds", "BATCHSCOPE_IMDS") or IMDS),
        interval=_seconds("interval", given("interval"), DEFAULT_INTERVAL, MIN_INTERVAL, MAX_INTERVAL),
        flush=_seconds("flush", given("flush"), DEFAULT_FLUSH, MIN_FLUSH, MAX_FLUSH),
    )


def _container(address: str) -> tuple[str, str]:
    """Returns a container's address and its signature."""
    if not address:
        raise SettingsError(
            "There is nowhere to send telemetry: give the address of a blob container with --storage or in the "
            "variable BATCHSCOPE_STORAGE, like https://NAME.blob.core.windows.net/telemetry."
        )
    parts = _split(address)
    is_here = parts.hostname in _LOOPBACK
    if parts.scheme not in ("https", "http") or not parts.hostname or not parts.path.strip("/"):
        raise SettingsError(
            "The address of the storage isn't that of a blob container, like "
            "https://NAME.blob.core.windows.net/telemetry."
        )
    if parts.scheme == "http" and not is_here:
        raise SettingsError("The storage is asked for over http, which would show tokens and data: use https.")
    if parts.username or parts.password:
        raise SettingsError("The address of the storage holds a user or password: give a SAS or use an identity.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", parts.query


def _split(address: str) -> SplitResult:
    """Returns the parts of an address; none of one that makes no sense, such as a port that is no number."""
    try:
        parts = urlsplit(address)
        return parts if parts.port != 0 else urlsplit("")
    except ValueError:
        return urlsplit("")


def _name(option: str, value: str) -> str:
    if not value:
        raise SettingsError(
            f"The {option} isn't known: outside of a Batch task, give it with --{option} (in one, Batch names it)."
        )
    if not _ID.fullmatch(value):
        raise SettingsError(f"The {option} has characters that no name in Batch has: give it anew with --{option}.")
    return value


def _task(environment: Mapping[str, str]) -> TaskIdentity | None:
    """Returns the task that starts the agent; a start task has no job."""
    job, task = environment.get("AZ_BATCH_JOB_ID", ""), environment.get("AZ_BATCH_TASK_ID", "")
    return TaskIdentity(job, task) if job and task else None


def folder_of(options: Mapping[str, object], environment: Mapping[str, str]) -> str:
    """Returns the agent's own folder: beside the node's shared files, which outlive tasks, else with temporary ones."""
    given = options.get("folder") or environment.get("BATCHSCOPE_FOLDER", "").strip()
    shared = environment.get("AZ_BATCH_NODE_SHARED_DIR") or environment.get("TMPDIR") or "/tmp"  # noqa: S108 - the last resort
    return str(given) if given else f"{shared.rstrip('/')}/{_FOLDER}"


def _imds(address: str) -> str:
    parts = _split(address)
    if parts.scheme != "http" or parts.hostname not in (*_LOOPBACK, "169.254.169.254"):
        raise SettingsError("--imds takes the address of an instance metadata service on this machine only.")
    return address.rstrip("/")


def _seconds(option: str, written: str, default: float, least: float, most: float) -> float:
    try:
        value = float(written) if written else default
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise SettingsError(f"--{option} takes seconds from {least:g} to {most:g}.")
    return value
