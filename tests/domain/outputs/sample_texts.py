"""Made-up last words of failed tasks: templates by kind in `samples/`, rendered with values that differ each time.

A sample begins with `=== KIND`; lines up to `---` are its settings: the expected `title`, the id of the `advice`,
`crlf` and `utf16` for outputs of Windows, `same: KIND` where another kind says the same. Text is stderr, or stdout
after `--- stdout`. «NAME» stands for a value.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path

FOLDER = Path(__file__).with_name("samples")
VARIANTS = 6
_VALUE = re.compile(r"«(\w+)»")
_WORDS = ("alpha", "canyon", "delta", "harbour", "meadow", "orion", "pine", "quartz", "river", "summit")


@dataclass(frozen=True, slots=True)
class Template:
    kind: str
    family: str
    settings: dict[str, str]
    stderr: str
    stdout: str

    @property
    def cause(self) -> str:
        return self.settings.get("same", self.kind)

    @property
    def held_out(self) -> bool:
        """Whether it was left aside while the rules were written, with its group: a third, by a hash of its name."""
        return blake2b(self.kind.encode()).digest()[0] % 3 == 0


@dataclass(frozen=True, slots=True)
class Sample:
    template: Template
    variant: int
    stderr: str
    stdout: str


@cache
def templates() -> tuple[Template, ...]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        parts = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [_template(path.stem, part) for part in parts[1:]]
    return tuple(found)


def samples() -> list[Sample]:
    return [sample(template, variant) for template in templates() for variant in range(VARIANTS)]


def sample(template: Template, variant: int) -> Sample:
    values = Values(Chance(f"{template.kind}/{variant}"))
    decorate = _DECORATIONS[variant % len(_DECORATIONS)]
    outputs = [_encoded(decorate(values.filled(text), values), template) for text in (template.stderr, template.stdout)]
    return Sample(template, variant, *outputs)


class Chance:
    """Numbers that look random, and are the same in each run."""

    def __init__(self, seed: str) -> None:
        self.seed, self.drawn = seed, 0

    def randrange(self, limit: int) -> int:
        self.drawn += 1
        digest = blake2b(f"{self.seed}/{self.drawn}".encode(), digest_size=24).digest()
        return int.from_bytes(digest) % limit

    def randint(self, first: int, last: int) -> int:
        return first + self.randrange(last - first + 1)

    def uniform(self, first: float, last: float) -> float:
        return first + (last - first) * self.randrange(1 << 40) / (1 << 40)

    def getrandbits(self, bits: int) -> int:
        return self.randrange(1 << bits)

    def choice[T](self, values: Sequence[T]) -> T:
        return values[self.randrange(len(values))]


@dataclass
class Values:
    """Values of one run of a task: new ones for each place, but one directory, node and account."""

    random: "Chance"
    kept: dict[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> str:
        return _VALUE.sub(lambda found: self.value(found[1]), text)

    def value(self, name: str) -> str:
        if name in ("dir", "node", "acct", "host", "task", "user", "script", "sample"):
            return self.kept.setdefault(name, getattr(self, name)())
        return str(getattr(self, name)())

    def n(self) -> int:
        return self.random.randrange(10 ** self.random.randint(1, 7))

    def small(self) -> int:
        return self.random.randrange(12)

    def pid(self) -> int:
        return self.random.randint(200, 99999)

    def f(self) -> str:
        return self.random.choice((f"{self.random.uniform(0, 900):.3f}", f"{self.random.uniform(0, 9):.2e}"))

    def size(self) -> str:
        return f"{self.random.uniform(1, 999):.2f} {self.random.choice(('MiB', 'GiB'))}"

    def hex(self) -> str:
        return f"{self.random.getrandbits(47):012x}"

    def hexbyte(self) -> str:
        return f"{self.random.randint(0x80, 0xFFF):x}"

    def id(self) -> str:
        return self.random.choice(
            (f"{self.random.getrandbits(44):011x}", "b" + self._letters(9).replace("_", "k") + str(self.small()))
        )

    def uuid(self) -> str:
        digits = f"{self.random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def mmdd(self) -> str:
        return f"{self.random.randint(1, 12):02}{self.random.randint(1, 28):02}"

    def date(self) -> str:
        return f"2026-{self.random.randint(1, 12):02}-{self.random.randint(1, 28):02}"

    def clock(self) -> str:
        return ":".join(f"{self.random.randrange(limit):02}" for limit in (24, 60, 60))

    def time(self) -> str:
        return f"{self.date()}T{self.clock()}.{self.random.randrange(1000):03}Z"

    def sparktime(self) -> str:
        return f"26/{self.random.randint(1, 12):02}/{self.random.randint(1, 28):02} {self.clock()}"

    def godate(self) -> str:
        return f"2026/{self.random.randint(1, 12):02}/{self.random.randint(1, 28):02} {self.clock()}"

    def ctime(self) -> str:
        day, month = self.random.choice(("Mon", "Tue", "Sun")), self.random.choice(("Jan", "Jun", "Nov"))
        return f"{day} {month} {self.random.randint(1, 28):2} {self.clock()} 2026"

    def ip(self) -> str:
        return ".".join(str(self.random.randint(1, 254)) for _ in range(4))

    def port(self) -> int:
        return self.random.randint(1024, 65000)

    def dir(self) -> str:
        job, task = f"{self._word()}-{self.small()}", self.task()
        return self.random.choice(
            (
                f"/mnt/batch/tasks/workitems/{job}/job-1/{task}/wd",
                f"/mnt/resource/batch/tasks/workitems/{self.hex()}/job-1/{task}/wd",
                f"/scratch/tmp{self._letters(8)}/{self._word()}",
                f"/data/{self._word()}/{self.n()}",
            )
        )

    def task(self) -> str:
        return self.random.choice((f"task-{self.n():05}", f"{self._word()}_{self.small()}", self.uuid()))

    def sample(self) -> str:
        return self.random.choice((f"NA{self.n():05}", f"{self._word()}_{self.small()}", f"shot{self.n():04}"))

    def node(self) -> str:
        return self.random.choice((f"tvmps_{self.random.getrandbits(64):016x}_d", f"node{self.n():04}"))

    def host(self) -> str:
        return self.random.choice(
            (f"{self._word()}{self.small()}.internal.cloudapp.net", f"api.{self._word()}.example.com")
        )

    def acct(self) -> str:
        return f"{self._word()}{self.small()}data"

    def user(self) -> str:
        return self.random.choice(("_azbatch", "_azbatchtask_1", "batch"))

    def script(self) -> str:
        return self.random.choice((f"{self.dir()}/run.sh", "/bin/bash", "./start.sh"))

    def _word(self) -> str:
        return self.random.choice(_WORDS)

    def _letters(self, count: int) -> str:
        return "".join(self.random.choice("abcdefghijklmnopqrstuvwxyz0123456789_") for _ in range(count))


def _plain(text: str, values: Values) -> str:
    return text


def _coloured(text: str, values: Values) -> str:
    """Colours on each third line, and lines of a log before it."""
    lines = [f"\x1b[31m{line}\x1b[0m" if number % 3 == 0 else line for number, line in enumerate(text.split("\n"))]
    log = [f"{values.time()} INFO processed {values.n()} items in {values.f()} s" for _ in range(values.small())]
    return "\n".join((*log, *lines)) if text else ""


def _with_progress(text: str, values: Values) -> str:
    """A progress bar that is overwritten, whose begin is cut, before it."""
    bar = "\r".join(
        f"{percent:3}%|{'#' * (percent // 10):10}| {percent}/100 [00:{percent:02}<00:10]" for percent in range(3, 99)
    )
    return f"{bar[values.small() :]}\n{text}" if text else ""


def _followed(text: str, values: Values) -> str:
    """What wrappers log after it."""
    after = [
        f"[{values.time()}] INFO: uploading {values.n()} files",
        f"[{values.time()}] INFO: done in {values.f()} s",
        "",
    ]
    return "\n".join((text.rstrip("\n"), *after)) if text else ""


def _long_log(text: str, values: Values) -> str:
    """A long log before it, cut within a line, with warnings that didn't matter."""
    return _log() + "\n" + text if text else ""


@cache
def _log() -> str:
    """Returns one log for all kinds, as most of the time for samples would be that of its values."""
    values = Values(Chance("a long log"))
    log = [
        f"{values.time()} {'WARNING: cache miss of key' if number % 5 == 0 else 'INFO step'} {values.n()}"
        for number in range(300)
    ]
    return "\n".join(log)[7:]


_DECORATIONS: tuple[Callable[[str, Values], str], ...] = (_plain, _coloured, _with_progress, _followed, _long_log)


def _encoded(text: str, template: Template) -> str:
    if "crlf" in template.settings:
        text = text.replace("\n", "\r\n")
    return "\0".join(text) if "utf16" in template.settings else text


def _template(family: str, part: str) -> Template:
    kind, _, rest = part.partition("\n")
    head, _, body = rest.partition("---")
    settings = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in head.split("\n") if line}
    stream, _, body = body.partition("\n")
    texts = (body, "") if stream.strip() != "stdout" else ("", body)
    return Template(kind.strip(), family, settings, *texts)
