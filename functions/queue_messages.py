"""Messages of the queues as JSON. What fires on them loads it then: a cold start needs none of it."""

from msgspec import MsgspecError, Struct, json

from shared.domain.accounts.operations import JobMessage


class PollMessage(Struct, frozen=True):
    """A poll on demand, as it stands in the queue."""

    account: str
    poll: str


class _Named(Struct):
    account: str
    job: str | None = None


def text_of(message: JobMessage | PollMessage) -> str:
    """A message as it goes to a queue."""
    return json.encode(message).decode()


def poll_message(body: bytes) -> PollMessage:
    """Raises MsgspecError where it is none."""
    return json.decode(body, type=PollMessage)


def job_message(body: bytes) -> JobMessage:
    """Raises MsgspecError where it is none."""
    return json.decode(body, type=JobMessage)


def named_job(body: bytes) -> JobMessage | None:
    """The account and job that a message names, whatever else it says."""
    try:
        said = json.decode(body, type=_Named)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return JobMessage(said.account, said.job)
