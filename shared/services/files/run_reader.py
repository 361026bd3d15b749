"""Reads the ends of what one failed run wrote from Batch, and masks their secrets."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.domain.core.stamps import from_milliseconds
from shared.domain.files.file_parts import Part, encoding_of, last_part, shown_part
from shared.domain.outputs.excerpts import error_excerpt
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import STREAMS, TAIL, KeptOutput, KeptTail
from shared.domain.outputs.unkept_outputs import NO_TEXT, RAN_AGAIN
from shared.errors import BatchMissingError
from shared.services.files.run_owners import RunOwner
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import BatchFiles

REQUESTS = 2 * len(STREAMS) + 1
"""For a run: the size and the end of each stream, and whether it is still the latest."""
_OWNERS = ("JobNotFound", "PoolNotFound")
_NOTHING = Part(0, 0)
_LATE = timedelta(seconds=2)
"""A stream that changed so long after its run had ended is still written to, as by a process that goes on."""


class Stream(NamedTuple):
    """The end of a stream as it was read, or the code of why there is none."""

    size: int = 0
    part: Part = _NOTHING
    read: Part = _NOTHING
    content: bytes = b""
    grows: bool = False
    reason: str = ""


@dataclass(slots=True)
class RunReader:
    """Reads one run; `requested` are the bytes that it asked for, also where the read was cancelled."""

    source: BatchAccount
    owner: RunOwner
    run: FailedRun
    requested: int = field(default=0, init=False)

    async def read(self) -> list[Stream]:
        """Returns the ends of STREAMS. Raises BatchMissingError if the job or pool was deleted, BatchError."""
        streams = [await self._read(self.owner.folder + stream) for stream in STREAMS]
        if all(stream.reason for stream in streams) or await self.owner.is_latest(self.source, self.run):
            return streams
        return unread(RAN_AGAIN)

    async def _read(self, path: str) -> Stream:
        files, owner = BatchFiles(self.source), self.owner.files(self.run)
        try:
            facts = await files.fetch_facts(owner, path)
            part = last_part(TAIL, facts.size)
            read = part.with_context(facts.size)
            self.requested += read.length
            content = await files.fetch_part(owner, path, read)
        except BatchMissingError as error:
            if error.code in _OWNERS:
                raise
            return Stream(reason=error.code)
        grows = facts.last_modified is not None and facts.last_modified > from_milliseconds(self.run.ended) + _LATE
        return Stream(facts.size, part, read, content, grows)


def unread(reason: str) -> list[Stream]:
    """Returns streams that weren't read, for a reason."""
    return [Stream(reason=reason) for _ in STREAMS]


def kept_output(run: FailedRun, now: datetime, expires: int, streams: list[Stream]) -> KeptOutput:
    """Returns what is kept of a run: the streams without their secrets, and what they say. This takes CPU time."""
    stderr, stdout = map(_tail, streams)
    kept = KeptOutput(run, now, expires, (stderr, stdout))
    return kept if kept.is_empty else replace(kept, excerpt=error_excerpt(stderr.text, stdout.text, run.exit_code))


def _tail(stream: Stream) -> KeptTail:
    if stream.reason:
        return KeptTail(reason=stream.reason)
    if (encoding := encoding_of(stream.content)) is None:
        return KeptTail(reason=NO_TEXT)
    shown = shown_part(stream.content, stream.read, stream.part, grows=stream.grows)
    return KeptTail(stream.size, stream.part.start, shown, encoding)
