"""Made-up last words of many kinds of programs: each kind has one signature, and no two kinds share one.

`pytest -s` prints precision and recall over pairs of samples.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache

import pytest

from shared.domain.outputs.excerpts import MAX_EXCERPT_LINES, MAX_TITLE, ErrorExcerpt, error_excerpt
from shared.domain.outputs.known_errors import known_error
from tests.domain.outputs.sample_texts import VARIANTS, Template, sample, templates

MIN_KINDS, MIN_SAMPLES = 200, 1000


@cache
def excerpts_of(kind: str) -> tuple[ErrorExcerpt, ...]:
    """Returns the excerpts of all samples of a kind, which several tests look at."""
    (template,) = (one for one in templates() if one.kind == kind)
    some = (sample(template, variant) for variant in range(VARIANTS))
    return tuple(error_excerpt(one.stderr, one.stdout) for one in some)


def pairs(counts: Counter[object]) -> int:
    return sum(number * (number - 1) // 2 for number in counts.values())


def precision_and_recall(some: list[tuple[Template, ErrorExcerpt]]) -> tuple[float, float]:
    causes = Counter[object](template.cause for template, _ in some)
    signatures = Counter[object](excerpt.signature for _, excerpt in some)
    both = pairs(Counter((template.cause, excerpt.signature) for template, excerpt in some))
    return both / max(1, pairs(signatures)), both / max(1, pairs(causes))


def test_each_kind_has_one_signature_that_no_other_kind_has() -> None:
    known = [(template, excerpt) for template in templates() for excerpt in excerpts_of(template.kind)]
    assert len(templates()) >= MIN_KINDS
    assert len(known) >= MIN_SAMPLES
    families = Counter(template.family for template in templates())
    print(f"\n{len(known)} samples of {len(templates())} kinds: {dict(families)}")
    parts: dict[str, Callable[[Template], bool]] = {
        "all": lambda _: True,
        "held out at first": lambda template: template.held_out,
        "others": lambda template: not template.held_out,
    }
    for name, chosen in parts.items():
        precision, recall = precision_and_recall([pair for pair in known if chosen(pair[0])])
        print(f"{name:18} precision {precision:.3f}  recall {recall:.3f}")
    by_cause, by_signature = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for template, excerpt in known:
        by_cause[template.cause].add(excerpt.signature)
        by_signature[excerpt.signature].add(template.cause)
    assert {cause: found for cause, found in by_cause.items() if len(found) > 1} == {}
    assert {signature: found for signature, found in by_signature.items() if len(found) > 1} == {}


@pytest.mark.parametrize("template", [one for one in templates() if "title" in one.settings], ids=lambda one: one.kind)
def test_titles_are_what_people_would_read(template: Template) -> None:
    assert {excerpt.title for excerpt in excerpts_of(template.kind)} == {template.settings["title"]}


@pytest.mark.parametrize("template", [one for one in templates() if "advice" in one.settings], ids=lambda one: one.kind)
def test_well_known_last_words_have_their_advice(template: Template) -> None:
    found = [known_error(excerpt) for excerpt in excerpts_of(template.kind)]
    assert {one.id if one else None for one in found} == {template.settings["advice"]}


def test_excerpts_are_short_and_hold_the_line_that_says_why() -> None:
    for template in templates():
        excerpt = excerpts_of(template.kind)[1]
        assert 1 <= len(excerpt.lines) <= MAX_EXCERPT_LINES, template.kind
        assert len(excerpt.title) <= MAX_TITLE
        word = max(re.findall(r"[A-Za-z]+", excerpt.title), key=len)
        assert any(word in line for line in excerpt.lines), template.kind


TRACEBACK = """Traceback (most recent call last):
  File "/mnt/batch/wd/run.py", line {n}, in <module>
    main()
  File "/mnt/batch/wd/grid.py", line {n}, in refine
    raise ValueError("cell is degenerate")
ValueError: cell is degenerate
"""


def test_ranks_that_write_at_once_share_the_signature_of_one() -> None:
    ranks = [[f"[1,{rank}]<stderr>:{line}" for line in TRACEBACK.format(n=rank).splitlines()] for rank in range(4)]
    interleaved = "\n".join(line for lines in zip(*ranks, strict=True) for line in lines)
    assert error_excerpt(interleaved).signature == error_excerpt(TRACEBACK.format(n=7)).signature


def test_a_traceback_is_shown_with_its_deepest_own_frame() -> None:
    library = '  File "/opt/venv/lib/python3.12/site-packages/grids/core.py", line 9, in check\n    raise\n'
    text = TRACEBACK.format(n=3).replace("ValueError: cell", library + "ValueError: cell")
    lines = error_excerpt(text).lines
    assert any("grid.py" in line for line in lines)
    assert "ValueError: cell is degenerate" in lines


def test_the_first_error_of_a_rank_counts_and_not_the_launchers_epilogue() -> None:
    epilogue = (
        "Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n"
        "make: *** [Makefile:3: run] Error 1\n"
    )
    assert error_excerpt("solver: cannot open mesh\n" + epilogue).title == "solver: cannot open mesh"


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 3, in f\n    raise SystemExit(3)\nSystemExit: 3\n',
         "SystemExit: …"),
        ("ERROR: ld.so: object 'x.so' from LD_PRELOAD cannot be preloaded: ignored.\nkeyword *BOUNDRY not recognised\n",
         "keyword *BOUNDRY not recognised"),
        ("E1101 12:00:00.123456   123 main.cc:33] Check failed: size > 0 (0 vs. 0)\nAborted (core dumped)\n",
         "Check failed: size > … (… vs. …)"),
        ("/bin/sh: 1: exec: ./go: not found\n", "go: command not found"),
        ("Unhandled Exception: System.NullReferenceException: Object reference not set.\n",
         "System.NullReferenceException: Object reference not set."),
        ("app.errors.ValidationError: 2 validation errors for Settings\napi_key\n  field required\n",
         "app.errors.ValidationError: … validation errors for Settings api_key field required"),
    ],
)  # fmt: skip
def test_the_line_that_says_why_is_found_beside_others(output: str, title: str) -> None:
    assert error_excerpt(output).title == title


def test_an_epilogue_alone_is_the_title() -> None:
    assert error_excerpt("make: *** [Makefile:3: run] Error 2\n").title == "make: *** [Makefile:…: run] Error 2"


def test_stdout_counts_where_it_says_more_than_stderr() -> None:
    excerpt = error_excerpt("command exited with code 1\n", "loading\nFATAL ERROR: no atoms in box\n")
    assert excerpt.title == "FATAL ERROR: no atoms in box"


def test_without_output_the_exit_code_is_the_title() -> None:
    assert (
        error_excerpt("", "\r\n \n", 137).title == "No output, exit code 137: SIGKILL, killed, often for lack of memory"
    )
    assert error_excerpt("").title == "No output, no exit code"


def test_missing_names_tell_causes_apart() -> None:
    def ids(text: str, *names: str) -> set[str]:
        return {error_excerpt(text.format(name)).id for name in names}

    assert len(ids("ModuleNotFoundError: No module named '{}'\n", "h5py", "h6py", "yaml")) == 3
    assert len(ids("bash: line 3: {}: command not found\n", "bowtie", "bowtie2", "bwa")) == 3
    missing = (
        "./app: error while loading shared libraries: {}: cannot open shared object file: No such file or directory\n"
    )
    assert len(ids(missing, "libcudart.so.11.0", "libcudart.so.12", "libnccl.so.2")) == 3


def test_signatures_are_short_stable_ids() -> None:
    excerpt = error_excerpt("ModuleNotFoundError: No module named 'numpy'\n")
    assert excerpt.id == "123dd9ba7d0d"
