"""The command line of a proof: its parser, how it ends when it fails or is stopped, and its exit code."""

import argparse
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from local.dev.system.console import Failure, complain, say
from local.prove.reporting.proofs_page import write_section

DEFAULT = "(default: %(default)s)"
"""Shows an option's default in its help."""
_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a proof: `text` for the terminal, `section` for docs/proofs.md, and `faults`, a line each."""

    text: str
    section: str
    is_proved: bool
    faults: Sequence[str] = ()


def proof_parser(name: str, description: str | None, *, beside: str = "") -> argparse.ArgumentParser:
    """Returns the parser of a proof that writes a section, with its option `--write`.

    `beside` names further files that the proof writes.
    """
    parser = argparse.ArgumentParser(
        prog=f"dev.py prove {name}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    written = f"write the section '{name}' of docs/proofs.md{beside}"
    parser.add_argument("--write", action="store_true", help=written)
    return parser


def run_proof(name: str, prove: Callable[[], Outcome], *, write: bool) -> int:
    """Runs a proof and shows its outcome; with `write` it replaces the proof's section.

    Returns the exit code: 0 if it holds, 1 if it doesn't or couldn't be finished, 130 if it was stopped.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        outcome = prove()
    except Failure as failure:
        complain(str(failure))
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    return show_outcome(name, outcome, write=write)


def show_outcome(name: str, outcome: Outcome, *, write: bool) -> int:
    """Shows a finished proof, writes its section if `write`, and returns its exit code."""
    say(f"\n{outcome.text}\n")
    for fault in outcome.faults[:_MAX_SHOWN]:
        say(f"  {fault}")
    if write:
        write_section(name, outcome.section)
    return 0 if outcome.is_proved else 1
