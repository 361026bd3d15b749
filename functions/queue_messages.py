"""Queue messages as JSON. Triggers import this module when they fire, to keep cold starts short."""

from msgspec import MsgspecError, Struct, json

from shared.domain.accounts.operations import JobMessage
from shared.domain.blobs.queued_shards import ShardMessage


class PollMessage(Struct, frozen=True):
    """A queued poll on demand."""

    account: str
    poll: str


class _Shard(Struct):
    shard: int | None = None


class _Named(Struct):
    account: str
    job: str | None = None


def text_of(message: JobMessage | ShardMessage | PollMessage) -> str:
    """Returns a message as queue text."""
    return json.encode(message).decode()


def poll_message(body: bytes) -> PollMessage:
    """Returns the decoded message. Raises MsgspecError for anything else."""
    return json.decode(body, type=PollMessage)


def queued_message(body: bytes) -> JobMessage | ShardMessage:
    """Returns the decoded message. Raises MsgspecError for anything else."""
    is_shard = json.decode(body, type=_Shard).shard is not None
    return json.decode(body, type=ShardMessage) if is_shard else json.decode(body, type=JobMessage)


def named_job(body: bytes) -> JobMessage | None:
    """Returns the account and job that a message names, ignoring other fields; None if it names no account."""
    try:
        said = json.decode(body, type=_Named)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return JobMessage(said.account, said.job)
