"""Finds dead references in docs and docstrings: links, headings, paths of this repository and numbers of ADRs.

Docs are the pages under `docs` and the two at the root. Of Python files only docstrings and comments are read: a
missing path in code shows when the code runs.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

PAGES = ("README.md", "CHANGELOG.md")
PYTHON = ("bench", "functions", "infra", "local", "shared", "tests")
EXCEPTIONS: Mapping[str, str] = {
    "bench/NAME.py": "NAME stands for any name",
    "functions/api/SUBJECT/NAME.py": "SUBJECT and NAME stand for any names",
    "infra/NAME.py": "NAME stands for any name",
    "local/prove/NAME.py": "NAME stands for any name",
    "shared/domain/telemetry/decode/NAME.py": "NAME stands for any name",
    "tests/domain/telemetry/decode/test_NAME.py": "NAME stands for any name",
    "web/dist": "the page, which dev.py builds",
}
"""Paths that needn't exist, each with the reason."""
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`+([^`]+)`+")
_LINK = re.compile(
    r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|(?:src|href)=\"([^\"]+)\""
)
_HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)? *$", re.MULTILINE)
_PATH = re.compile(r"(?:bench|docs|functions|infra|local|shared|tests|web)/[\w./*\-]*\w[/*]?")
_FILE = re.compile(
    r"(?<![\w./\-])(?:bench|docs|functions|infra|local|shared|tests|web)/[\w./\-]*\w\.(?:py|md|json|ts|tsx|bicep)\b"
)
_ADR = re.compile(r"\bADRs? +(\d+)|\badr/(\d{4})(-[\w\-]+)?")
_ANY = re.compile(rf"{_PATH.pattern}|{_ADR.pattern}")


def dead_references(root: Path) -> list[str]:
    """Returns a line for each dead reference: the file, the line in it, and the missing target."""
    found = []
    for path in (*(root / name for name in PAGES), *_files(root / "docs", ".md")):
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found += [_line_at(root, path, text, at, words) for at, words in sorted(_in_page(root, path, text))]
    for path in (*sorted(root.glob("*.py")), *(file for name in PYTHON for file in _files(root / name, ".py"))):
        source = path.read_text(encoding="utf-8")
        for line, text in _prose(source) if _ANY.search(source) else ():
            places = sorted(_in_text(root, text))
            name = path.relative_to(root).as_posix()
            found += [f"{name}:{line + text.count('\n', 0, at)}: {words}" for at, words in places]
    return found


def anchors(text: str) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub creates them: of equal ones the second ends in `-1`."""
    found: Counter[str] = Counter()
    names = set()
    for heading in _HEADING.findall(_without_fences(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def _files(folder: Path, suffix: str) -> list[Path]:
    """Returns the files of a folder and its subfolders, except packages of Node."""
    found = []
    for place, folders, names in folder.walk():
        folders[:] = [name for name in folders if name != "node_modules"]
        found += [place / name for name in names if name.endswith(suffix)]
    return sorted(found)


def _line_at(root: Path, path: Path, text: str, at: int, words: str) -> str:
    return f"{path.relative_to(root).as_posix()}:{text.count('\n', 0, at) + 1}: {words}"


def _without_fences(text: str) -> str:
    """Returns the text with blanks in place of code blocks, so that all positions stay the same."""
    return _FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)


def _in_page(root: Path, path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yields the line number and a description of each dead reference in the page."""
    blank = _without_fences(text)
    prose = _SPAN.sub(lambda span: " " * len(span[0]), blank)
    for link in _LINK.finditer(prose):
        if words := _dead_link(path, text, link[1] or link[2]):
            yield link.start(), words
    yield from _in_text(root, blank)


def _dead_link(path: Path, text: str, target: str) -> str:
    """Returns the fault of a link's target; empty if it exists, or is outside the repository."""
    if re.match(r"[a-z][a-z0-9+.\-]*:|//|/", target, re.IGNORECASE):
        return ""
    name, _, anchor = unquote(target).partition("#")
    page = path.parent / name if name else path
    if not page.exists():
        return f"there is no file {target}"
    if anchor and page.suffix == ".md":
        there = anchors(text if page == path else page.read_text(encoding="utf-8"))
        return "" if anchor in there else f"there is no heading {target}"
    return ""


def _in_text(root: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yields dead paths and numbers of ADRs in any text."""
    for span in _SPAN.finditer(text):
        for word in re.finditer(r"\S+", span[1]):
            path = re.sub(r"(?:::.*|:\d+.*|#.*|[,;.]+)\Z", "", word[0])
            if _PATH.fullmatch(path) and not _exists(root, path):
                yield span.start(), f"there is no {path}"
    for file in _FILE.finditer(_SPAN.sub(lambda span: " " * len(span[0]), text)):
        if not _exists(root, file[0]):
            yield file.start(), f"there is no {file[0]}"
    for adr in _ADR.finditer(text):
        number = f"{int(adr[1] or adr[2]):04}"
        if not any((root / "docs/adr").glob(f"{number}{adr[3] or '-'}*.md")):
            yield adr.start(), f"there is no {adr[0]}"


def _exists(root: Path, path: str) -> bool:
    if path in EXCEPTIONS:
        return True
    return any(root.glob(path.rstrip("/"))) if "*" in path else (root / path).exists()


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Yields docstrings, including those of constants, and comments, each with the number of its first line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
