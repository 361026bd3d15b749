"""The files that a run has written so far, computed from its script and its time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from local.batch_emulator.contents.content import EMPTY, Content, FixedContent, join
from local.batch_emulator.contents.forms import generate
from local.batch_emulator.contents.last_words import RunIdentity, last_words
from local.batch_emulator.contents.log_lines import PAIR_SIZE, LogLines
from local.batch_emulator.contents.scripts import STDERR, STDOUT, Filling, Literal, Log, Script, Step
from local.batch_emulator.core.stamps import SECOND, ticks, to_node_precision

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file's content, and its times in ticks."""

    created: int
    modified: int
    content: Content


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run that began at `started` (in ticks), and what it has done of its script: `seconds`, None for nothing.

    `speed` divides the script's seconds.
    """

    identity: RunIdentity
    script: Script
    started: int
    seconds: float | None
    speed: float

    def moment(self, seconds: float) -> int:
        """Returns the moment of a second of the script."""
        return to_node_precision(self.started + ticks(seconds / self.speed))


def written_files(run: RunProgress) -> Mapping[str, WrittenFile]:
    """Returns a run's files by path below its directory: its outputs, and what else it has written so far."""
    files = {name: _File(run, name, 0.0) for name in (STDOUT, STDERR)}
    seconds = run.seconds
    for step in run.script.steps if seconds is not None else ():
        if step.seconds <= (seconds or 0.0) + _ROUNDING:
            for each in _parts(step, run):
                files.setdefault(each.file, _File(run, each.file, step.seconds)).write(each)
    return dict(found for file in files.values() for found in file.contents(seconds or 0.0))


def _parts(step: Step, run: RunProgress) -> Iterator[Step]:
    """Yields a step with its content, that of last words for each output."""
    output = step.output
    if isinstance(output, Filling | Literal | Log):
        yield step
        return
    words = last_words(output.kind, run.identity, run.moment(step.seconds))
    for name, text in zip((STDOUT, STDERR), words, strict=True):
        yield Step(step.seconds, Literal(text.encode()), name)


@dataclass(slots=True)
class _File:
    """A file while a script writes it: the log that grows in it, with the second of its start and its lines so far."""

    run: RunProgress
    name: str
    created: float
    modified: float = 0.0
    parts: list[Content] = field(default_factory=list)
    log: Log | None = None
    log_started: float = 0.0
    lines: int = 0

    def write(self, step: Step) -> None:
        """Appends the output of a step, behind the lines that the log has written before it."""
        self._grow(step.seconds)
        if step.overwrites:
            self.parts.clear()
        self.modified = step.seconds
        if isinstance(step.output, Log):
            self.log, self.log_started, self.lines = step.output, step.seconds, 0
        elif isinstance(step.output, Filling):
            seed = f"{self._seed}/{len(self.parts)}"
            moment = self.run.moment(step.seconds)
            self.parts.append(generate(step.output.form, step.output.size, seed, moment))
        elif isinstance(step.output, Literal):
            self.parts.append(FixedContent(step.output.raw))

    def contents(self, seconds: float) -> Iterator[tuple[str, WrittenFile]]:
        """Yields the file by its path, and those that rotation has renamed, after so many seconds of the script."""
        created = self.run.moment(self.created)
        if self.log and self.log.max_size:
            yield from self._rotated(self.log, seconds)
            return
        self._grow(seconds)
        yield self.name, WrittenFile(created, self.run.moment(self.modified), join(self.parts))

    def _rotated(self, log: Log, seconds: float) -> Iterator[tuple[str, WrittenFile]]:
        total, lines_per_file = self._line_count(log, seconds), max(2, log.max_size // PAIR_SIZE * 2)
        latest = total // lines_per_file
        for age in range(min(latest, log.kept) + 1):
            first = (latest - age) * lines_per_file
            last = min(total, first + lines_per_file)
            name = f"{self.name}.{age}" if age else self.name
            content = self._log_lines(log, first, last) if last > first else EMPTY
            created = self.run.moment(self._line_seconds(log, first) if first else self.log_started)
            modified = self.run.moment(self._line_seconds(log, last) if last else self.log_started)
            yield name, WrittenFile(created, modified, content)

    def _grow(self, seconds: float) -> None:
        if self.log is None:
            return
        last = self._line_count(self.log, seconds)
        if last > self.lines:
            self.parts.append(self._log_lines(self.log, self.lines, last))
            self.lines, self.modified = last, self._line_seconds(self.log, last)

    def _log_lines(self, log: Log, first: int, last: int) -> LogLines:
        begun = self.run.started + ticks(self._line_seconds(log, 1) / self.run.speed)
        return LogLines(self._seed, begun, SECOND / (log.rate * self.run.speed), first, last)

    def _line_count(self, log: Log, seconds: float) -> int:
        return int(log.rate * (seconds - self.log_started) + _ROUNDING)

    def _line_seconds(self, log: Log, number: int) -> float:
        """Returns the second of the script in which the log has so many lines."""
        return self.log_started + number / log.rate

    @property
    def _seed(self) -> str:
        return f"{self.run.identity.seed}/{self.name}"
