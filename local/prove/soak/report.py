"""The report of a soak, for the terminal and docs/proofs.md."""

from collections.abc import Sequence

from local.prove.reporting.figures import machine
from local.prove.reporting.time_chart import chart
from local.prove.soak.judging import Finding
from local.prove.soak.record import Record

_WHAT = """
Two hosts on one storage watch an account of the emulator in which jobs, tasks, pools and nodes come and go. New blobs
come in at a steady rate (telemetry in every format, resource logs, hostile ones), and every route of the API is asked
on both hosts. Retention is set as short as settings allow, and housekeeping runs every five minutes. The resident
memory of each host must stay flat after the first half hour, and no table may grow beyond the bound of its rows.
"""
_MARKS = {True: "ok", False: "NOT OK", None: "too short to judge"}


def is_proved(findings: Sequence[Finding]) -> bool:
    return all(finding.ok is not False for finding in findings)


def text(record: Record, findings: Sequence[Finding]) -> str:
    """Returns the report for the terminal."""
    rows = [(one.name, one.figure, one.bar, _MARKS[one.ok]) for one in findings]
    rows += [(name, value, "", "") for name, value in record.notes]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    )


def section(record: Record, findings: Sequence[Finding]) -> str:
    """Returns the report for docs/proofs.md."""
    judged = "\n".join(f"| {one.name} | {one.figure} | {one.bar} | {_MARKS[one.ok]} |" for one in findings)
    notes = "\n".join(f"| {name} | {value} | | |" for name, value in record.notes)
    run = f"`{record.command}` on {record.began:%Y-%m-%d}, {record.version}, {machine()}"
    head = "| figure | value | bar | |\n|---|---|---|---|"
    return f"{_WHAT}\n{run}:\n\n{head}\n{judged}\n{notes}\n\n![Memory of both hosts](soak.svg)\n"


def picture(record: Record) -> str:
    """Returns memory by minute as SVG."""
    title = f"Resident memory of both hosts, {record.began:%Y-%m-%d}, {record.version}"
    return chart(title, "MB", record.seen.memory)
