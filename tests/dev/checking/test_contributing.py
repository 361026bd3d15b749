"""CONTRIBUTING.md and .editorconfig match the checkout."""

import configparser
import re
import shlex
import tomllib

from local.dev.commands import parser, split
from local.dev.system.checkout import HERE

PAGE = (HERE.root / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_page_is_short_and_its_links_lead_somewhere() -> None:
    assert len(PAGE.splitlines()) <= 90
    links = [link for link in re.findall(r"\]\(([^)#]+)", PAGE) if "://" not in link]
    assert "docs/architecture.md" in links
    assert [link for link in links if not (HERE.root / link).exists()] == []


def test_the_page_names_commands_that_exist() -> None:
    commands = re.findall(r"python3 dev\.py ([^`\n]+)", PAGE)
    assert len(commands) > 5
    for command in commands:
        own, _ = split(shlex.split(command))
        parser().parse_args(own)


def test_the_page_gives_the_example_and_the_limit_of_the_check() -> None:
    assert "at most 72" in PAGE
    assert "Resume after a record exhausts its work budget" in PAGE


def test_editors_wrap_and_indent_python_as_ruff_does() -> None:
    settings = configparser.ConfigParser()
    settings.read_string(f"[top]\n{(HERE.root / '.editorconfig').read_text(encoding='utf-8')}")
    ruff = tomllib.loads((HERE.root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    assert settings["top"]["root"] == "true"
    assert settings["*"]["max_line_length"] == str(ruff["line-length"])
    assert (settings["*"]["indent_style"], settings["*"]["indent_size"]) == ("space", "4")
