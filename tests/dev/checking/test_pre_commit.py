"""The hooks for pre-commit: local ones that call checks of dev.py."""

import shlex

import pytest
import yaml

from local.dev.commands import parser
from local.dev.system.checkout import HERE

HOOKS = yaml.safe_load((HERE.root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]


def test_hooks_are_local_and_take_nothing_from_elsewhere() -> None:
    assert {repository["repo"] for repository in HOOKS} == {"local"}
    hooks = [hook for repository in HOOKS for hook in repository["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert not any("additional_dependencies" in hook for hook in hooks)
    assert "://" not in (HERE.root / ".pre-commit-config.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("hook", HOOKS[0]["hooks"], ids=lambda hook: str(hook["id"]))
def test_hooks_call_checks_that_exist(hook: dict[str, object]) -> None:
    python, script, *arguments = shlex.split(str(hook["entry"]))
    assert (python, script, arguments[0]) == ("python3", "dev.py", "check")
    given = ["message.txt"] if hook["stages"] == ["commit-msg"] else []  # git names the file of the message
    options = parser().parse_args([*arguments, *given])
    assert options.fast != bool(options.message)


def test_nothing_that_is_installed_needs_pre_commit() -> None:
    for name in ("requirements.in", "requirements-dev.in", "requirements-dev.txt"):
        assert "pre-commit" not in (HERE.root / name).read_text(encoding="utf-8")
