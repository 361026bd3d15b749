"""Queue messages as JSON. Triggers import this module when they fire, to keep cold starts short."""

from msgspec import MsgspecError, Struct, json

from shared.domain.accounts.operations import JobMessage


class PollMessage(Struct, frozen=True):
    """A queued poll on demand."""

    account: str
    poll: str


class _Named(Struct):
    account: str
    job: str | None = None


def text_of(message: JobMessage | PollMessage) -> str:
    """Returns a message as queue text."""
    return json.encode(message).decode()


def poll_message(body: bytes) -> PollMessage:
    """Returns the decoded message. Raises MsgspecError for anything else."""
    return json.decode(body, type=PollMessage)


def job_message(body: bytes) -> JobMessage:
    """Returns the decoded message. Raises MsgspecError for anything else."""
    return json.decode(body, type=JobMessage)


def named_job(body: bytes) -> JobMessage | None:
    """Returns the account and job that a message names, ignoring other fields; None if it names no account."""
    try:
        said = json.decode(body, type=_Named)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return JobMessage(said.account, said.job)
