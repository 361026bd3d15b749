"""Proves that the node agent's figures are true, on real processes with known behaviour.

Tasks run at once with the variables that Batch sets: busy loops, memory that is filled and freed, children that die
quickly or leave the session, threads, disk writers, sleepers, two attempts of a task. One agent runs as root with exit
accounting, one as a user without rights, who owns most of the tasks. The use of each attempt is known from its own
processes; psutil judges the node's totals. Agents reach no storage, so all their records are in their spools. It takes
about two minutes. Without root there is only the second agent. The exit code is 1 if a figure is outside of its bar.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from local.dev.system.checkout import HERE
from local.dev.system.console import step
from local.prove.agent_figures import workloads
from local.prove.agent_figures.judging import Row, attempts_of, interval_row, judge_task, seen_row
from local.prove.agent_figures.node_judging import judge_node
from local.prove.agent_figures.node_totals import Totals, watched
from local.prove.agent_figures.plans import JOB, PLANS, TINY_PLANS
from local.prove.agent_figures.report import is_proved, section, text
from local.prove.agent_figures.spooled import INTERVAL, Line, agent, copy_sources, records
from local.prove.agent_figures.truths import Truth, run_all
from local.prove.agent_figures.users import User, plain_user
from local.prove.reporting.command import Outcome, proof_parser, run_proof
from local.prove.reporting.figures import headline

MEASURED_PATHS = ("agent",)
ROOT, PLAIN = "root", "plain user"
_BEGIN = 3.0  # seconds until the agents measure


def main() -> int:
    options = proof_parser("agent-figures", __doc__).parse_args()
    return run_proof("agent-figures", _prove, write=options.write)


def _prove() -> Outcome:
    began, rows = datetime.now(UTC), _judged_rows()
    verdict = "All figures are true." if is_proved(rows) else "Figures are WRONG."
    return Outcome(f"{text(rows)}\n\n{verdict}", section(rows, headline("agent-figures", began)), is_proved(rows))


def _judged_rows() -> list[Row]:
    plain = plain_user()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # a disk, which /tmp needn't be
        folder = Path(name)
        folder.chmod(0o755)
        copy_sources(HERE.root, folder)
        program = folder / "workloads.py"
        program.write_bytes(Path(workloads.__file__).read_bytes())
        for path in (program, *folder.glob("agent/**/*")):
            path.chmod(0o755)
        with step("Running agents and tasks (about two minutes)"):
            totals, truths, found = _measured(folder, program, plain)
    return [row for who, lines in found.items() for row in _judged(who, lines, totals, truths)]


def _measured(
    folder: Path, program: Path, plain: User
) -> tuple[Totals, Mapping[str, Sequence[Truth]], Mapping[str, Sequence[Line]]]:
    """Runs all, and returns psutil's totals, the truth of each attempt by task, and each agent's records."""
    own = {who: folder / who.replace(" ", "-") for who in ((ROOT, PLAIN) if plain.is_other else (PLAIN,))}
    with watched() as totals, ExitStack() as agents:
        for who, spool in own.items():
            spool.mkdir(mode=0o700)
            if who == PLAIN and plain.is_other:
                plain.give(spool)
            options = {} if who == ROOT else plain.popen_options()
            agents.enter_context(agent(folder, spool, plain.python, options))
        time.sleep(_BEGIN)
        truths = run_all(folder, program, plain)
        time.sleep(INTERVAL * 1.5)
    return totals, truths, {who: records(spool) for who, spool in own.items()}


def _judged(who: str, lines: Sequence[Line], totals: Totals, truths: Mapping[str, Sequence[Truth]]) -> Iterator[Row]:
    found = attempts_of(lines, JOB)
    for plan in PLANS:
        if plan.name in truths and (who == ROOT or not plan.is_elevated):
            is_exact = who == ROOT
            yield from judge_task(who, plan, truths[plan.name], found.get(plan.name, ()), is_exact=is_exact)
    yield seen_row(who, {plan.name: truths[plan.name] for plan in TINY_PLANS}, found)
    yield interval_row(who, lines)
    yield from judge_node(who, lines, totals)


if __name__ == "__main__":
    sys.exit(main())
