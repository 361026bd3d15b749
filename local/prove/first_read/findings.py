"""The results of the proof of first reads, with verdict and report."""

from collections.abc import Iterator
from dataclasses import dataclass, field

_UNSTORED = 2 * 80_000 + 16 * 1000  # tasks of a part being stored, of the next part, and of pending pages
_DIVIDED = 16 * 1000  # tasks of first pages, which are listed again when the list is divided
_PLANNED = 2 / 3  # share of kills that must find a stored part: else nothing is resumed
_AGAIN = 1 / 3  # share of all tasks that may be received again per kill; without anything stored that is half


@dataclass(slots=True)
class Findings:
    """The results: `planned` kills found a stored part; `again` counts surplus tasks received per read."""

    reads: int = 0
    kills: int = 0
    planned: int = 0
    compared: int = 0
    again: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def problems(self, kills: int) -> list[str]:
        """Returns the reasons why the proof fails with so many kills, including `wrong`."""
        return [*self._doubts(kills), *self.wrong]

    def _doubts(self, kills: int) -> Iterator[str]:
        if self.kills < kills or not self.reads:
            yield f"there were {self.kills} kills instead of {kills}, {self.reads} reads came to an end"
        if self.planned < int(self.kills * _PLANNED):
            yield f"only {self.planned} of {self.kills} kills found a part of the read stored"
        if sum(self.again) > self._most_again:
            yield f"{self._a_kill(sum(self.again)):,} tasks were received again a kill, not a third of all at most"

    @property
    def _most_again(self) -> float:
        return self.kills * _AGAIN * self.compared / max(self.reads, 1) + self.reads * _DIVIDED

    def _a_kill(self, tasks: float) -> int:
        return int(tasks / max(self.kills, 1))

    def lines(self, kills: int, seconds: float) -> Iterator[str]:
        """Yields the results as Markdown."""
        least, again = int(self.kills * _PLANNED), sum(self.again)
        yield "| measure | value |"
        yield "|---|---|"
        yield f"| kills amid a first read | {self.kills}, {self.planned} with part of it stored (at least {least}) |"
        yield f"| first reads brought to an end | {self.reads} |"
        yield f"| tasks whose counts were compared with the truth | {self.compared:,} |"
        most = self._a_kill(self._most_again)
        yield f"| tasks received again | {again:,}, {self._a_kill(again):,} a kill (at most {most:,}) |"
        wrong = "wrong counts, requests for what was read and stored, lost plans, defects"
        yield f"| **{wrong}** | **{len(self.wrong)}** |"
        yield f"| duration | {seconds / 60:.1f} min |"
        problems = self.problems(kills)
        if problems:
            yield ""
            yield "**NOT as it should be**:"
            yield from (f"- {problem}" for problem in problems[:20])


def received_again(kills: int) -> int:
    """Returns the maximum of tasks that a read with so many kills may receive more than once."""
    return kills * _UNSTORED + _DIVIDED
