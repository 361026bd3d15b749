"""The report of a run, for the terminal and docs/proofs.md."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from local.prove.ingest.book import WrittenData
from local.prove.ingest.judging import Verdict
from local.prove.reporting.figures import figures_table, figures_text, headline

_WHAT = """
Agents append telemetry to blobs in every form, cut anywhere, and Batch's log grows beside them, with repeats and lines
that can't be read, while two separate hosts read all of it and are killed by `kill -9` or frozen at random
moments. Then every minute of every series, every event, everything refused and all counts are compared with the
notes of the writers: once all was read, and again after a restart of all hosts. Of the earlier life of a re-created
blob, the ingested data must equal its first units to the bit.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run. It `took` that many seconds until all was right; `wrong` lists differences and defects."""

    options: argparse.Namespace
    began: datetime
    seconds: float
    book: WrittenData
    kills: Mapping[str, int]
    took: float
    verdicts: Mapping[str, Verdict]
    wrong: Sequence[str]

    @property
    def is_proved(self) -> bool:
        compared = all(verdict.compared for verdict in self.verdicts.values())
        return compared and not self.wrong and self.kills.get("all", 0) >= self.options.kills


def rows(run: Run) -> list[tuple[str, str]]:
    """Returns the figures by name."""
    book, lives = run.book, run.book.lives
    over, sealed = sum(life.is_over for life in lives), sum(life.is_sealed for life in lives)
    bad = sum(unit.is_bad for life in lives for unit in life.units) + len(book.bad_lines)
    minutes = sum(verdict.compared for name, verdict in run.verdicts.items() if name in book.nodes)
    counted = sum(verdict.bytes_counted for verdict in run.verdicts.values())
    return [
        ("written for", f"{run.options.minutes:g} minutes, {book.written:,} bytes"),
        ("hosts killed, frozen", f"{run.kills.get('all', 0)}, {run.kills.get('frozen', 0)}"),
        ("blobs of telemetry", f"{len(lives)}, {sealed} sealed, {over} re-created; of {len(book.nodes)} nodes"),
        ("samples in units", f"{book.samples:,} in {sum(len(life.units) for life in lives):,}"),
        ("deliveries of events", f"{book.deliveries:,} of {len(book.happenings):,} in {len(book.log_sizes)} blobs"),
        ("units that can't be read", str(bad)),
        ("units of earlier lives that nobody had read", str(sum(one.unread for one in run.verdicts.values()))),
        ("bytes of telemetry in totals", f"{counted:,} of {sum(life.size for life in lives):,}"),
        ("minutes of series compared", f"{minutes:,}"),
        ("all was right after the last append within", f"{run.took:.0f} s"),
        ("**differences and defects**", f"**{len(run.wrong)}**"),
    ]


def text(run: Run) -> str:
    """Returns the report for the terminal."""
    return figures_text(rows(run))


def section(run: Run) -> str:
    """Returns the report for docs/proofs.md."""
    return f"{_WHAT}\n{headline('ingest', run.began)}:\n\n{figures_table(rows(run))}\n"
