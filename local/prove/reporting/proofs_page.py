"""docs/proofs.md: the latest results of the long proofs, one section each. A proof replaces only its own section."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/proofs.md"
_HEAD = "# Proofs\n\nWhat `python3 dev.py prove NAME --write` last showed, a section each.\n"


def write_section(name: str, text: str, page: Path = PAGE) -> None:
    """Writes `text` under the heading `name`, replacing the section or appending it."""
    before = page.read_text(encoding="utf-8") if page.exists() else _HEAD
    section = f"## {name}\n{text.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(name)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(before):
        after = pattern.sub(lambda _: f"{section}\n", before)
    else:
        after = f"{before.rstrip()}\n\n{section}"
    page.write_text(after.rstrip() + "\n", encoding="utf-8")
