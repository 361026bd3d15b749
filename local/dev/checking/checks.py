"""`check`: all checks of the code that don't run it. Runs all tools and shows the failures.

`check --fast` runs the tools that take a second or two, like the hooks in .pre-commit-config.yaml. It installs nothing
for the dashboard, so it runs Biome only if that is installed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from local.dev.checking.announcements import unread_announcements
from local.dev.checking.commit_subjects import commit_subjects, message_faults
from local.dev.checking.figures import old_figures
from local.dev.checking.folder_sizes import folder_faults
from local.dev.checking.glossary import glossary_faults, unknown_nouns
from local.dev.checking.licences import licence_faults
from local.dev.checking.pins import stale_locks
from local.dev.checking.references import dead_references
from local.dev.setup.install import prepare
from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say, step
from local.dev.system.shell import run_shown

YAML = (".github", "azure.yaml", ".yamllint.yaml", ".pre-commit-config.yaml")
TYPED = ("dev.py", "function_app.py", "functions", "shared", "agent", "local", "infra", "tests", "bench")
BIOME = "node_modules/@biomejs/biome/bin/biome"
COMPILER = "node_modules/typescript/bin/tsc"
ASKED_FOR = "signal.pidfd_send_signal"  # which the agent calls only where there is one
AGENTS_PYTHON = ("--quiet", "--no-tips", "--violations", "--target=3.8-", "--exclude", ASKED_FOR)
"""Arguments by which vermin fails on features that Python 3.8 lacks, and names them."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check; `find` returns a description of the faults, empty if there are none."""

    title: str
    find: Callable[[], str]


def check(checkout: Checkout, *, strict: bool = False, fast: bool = False) -> int:
    """Runs every check, or the fast ones, and shows the output of failed ones; returns 1 if any fails.

    Figures in docs that are older than their code are named, and count as failures only if `strict`. Subjects of
    commits that are older than the rules for them are also only named, and so are classes with an unknown head noun and
    announcements of retirements that were read more than 90 days ago.
    """
    prepare(checkout, node=not fast and (checkout.web / "package.json").exists())
    failed: list[str] = []
    for planned in fast_checks(checkout) if fast else checks(checkout):
        found = ""
        with step(planned.title):
            found = planned.find()
        if found:
            failed.append(planned.title)
            say(found)
    if not fast and (old := old_figures(checkout.root)):
        failed += ["figures in docs"] * strict
        say("\n  ".join(["Figures in docs:", *old]))
    if not fast and (unknown := unknown_nouns(checkout.root)):
        say("\n  ".join(["Classes named by a noun that is neither standard nor in docs/glossary.md:", *unknown]))
    if not fast and (unread := unread_announcements(checkout.root, datetime.now(UTC).date())):
        say("\n  ".join(["Announcements of retirements to be read again, as dates move:", *unread]))
    subjects = commit_subjects(checkout.root)
    if subjects.unchecked:
        say(subjects.unchecked)
    elif subjects.warnings and not fast:
        say("\n  ".join(["Commit subjects that are older than their rules:", *subjects.warnings]))
    say(f"{len(failed)} of the checks failed: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


def check_message(path: Path) -> int:
    """Shows the faults of the subject of a commit message in a file, as hooks get it from git; returns 1 if any."""
    faults = message_faults(path.read_text(encoding="utf-8"))
    if faults:
        say(f"The commit's subject: {'; '.join(faults)}. CONTRIBUTING.md has the rules.")
    return 1 if faults else 0


def fast_checks(checkout: Checkout) -> Iterator[Check]:
    yield _tool(checkout, "ruff check", "ruff", "check")
    yield _tool(checkout, "ruff format --check", "ruff", "format", "--check")
    yield Check("commit subjects", lambda: "\n".join(commit_subjects(checkout.root).failures))
    if (checkout.web / BIOME).exists():
        yield _web_tool(checkout, "biome check", BIOME, "check", "--error-on-warnings")


def checks(checkout: Checkout) -> Iterator[Check]:
    typed = [name for name in TYPED if (checkout.root / name).exists()]
    yield from fast_checks(checkout)
    yield _tool(checkout, "mypy --strict", "mypy", "--strict", *typed)
    yield _tool(checkout, "vermin on the agent", "vermin", *AGENTS_PYTHON, "agent")
    yield _tool(checkout, "import contracts", "lint-imports", "--no-cache")
    if (checkout.root / ".github/workflows").exists():
        yield _tool(checkout, "actionlint", "actionlint", *workflows(checkout.root))
        yield _tool(checkout, "zizmor", "zizmor", "--offline", "--quiet", "--no-progress", ".github")
        yield _tool(checkout, "yamllint", "yamllint", "--strict", *YAML)
        workflow_schema = ("check-jsonschema", "--builtin-schema", "vendor.github-workflows")
        yield _tool(checkout, "check-jsonschema workflows", *workflow_schema, *workflows(checkout.root))
        dependabot = ("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
        yield _tool(checkout, "check-jsonschema Dependabot", *dependabot)
    yield Check("references in docs and docstrings", lambda: "\n".join(dead_references(checkout.root)))
    yield Check("modules in folders", lambda: "\n".join(folder_faults(checkout.root)))
    yield Check("glossary", lambda: "\n".join(glossary_faults(checkout.root)))
    yield Check("lock files", lambda: "\n".join(stale_locks(checkout.root)))
    if (checkout.web / "package.json").exists():
        yield Check("licences", lambda: "\n".join(licence_faults(checkout)))
        yield _web_tool(checkout, "tsc --noEmit in web", COMPILER, "--noEmit")
        yield _web_tool(checkout, "tsc --noEmit in web/tests", COMPILER, "--noEmit", "--project", "tests")


def workflows(root: Path) -> list[str]:
    """Returns the paths of the workflow files, which actionlint finds on its own only in a git checkout."""
    return [path.relative_to(root).as_posix() for path in sorted((root / ".github/workflows").glob("*.y*ml"))]


def _tool(checkout: Checkout, title: str, tool: str, *arguments: str) -> Check:
    program = checkout.python.with_name(f"{tool}{checkout.python.suffix}")
    return Check(title, lambda: _complaints(checkout, (str(program), *arguments)))


def _web_tool(checkout: Checkout, title: str, program: str, *arguments: str) -> Check:
    """Returns a check by a program among the dashboard's packages, which Node runs."""
    return Check(title, lambda: _complaints(checkout, (str(checkout.node), program, *arguments), folder="web"))


def _complaints(checkout: Checkout, command: tuple[str, ...], *, folder: str = ".") -> str:
    """Returns the output of a failed tool, or why it can't be started."""
    try:
        outcome = run_shown(command, cwd=checkout.root / folder)
    except Failure as failure:
        return str(failure)
    return (outcome.output or f"exit code {outcome.exit_code}") if outcome.exit_code else ""
