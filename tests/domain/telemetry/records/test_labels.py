import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.records.labels import Identity, PathPattern


@pytest.mark.parametrize(
    ("pattern", "path", "labels"),
    [
        ("{job}/{task}/{attempt}/*", "j/t/1/vm.0.zst", {"job": "j", "task": "t", "attempt": "1"}),
        ("**/{job}/{task}/*", "a/b/c/j/t/x", {"job": "j", "task": "t"}),
        ("**/{job}/{task}/*", "j/t/x", {"job": "j", "task": "t"}),
        ("{pool}/**/{node}.{roll}.json", "p/n.3.json", {"pool": "p", "node": "n", "roll": "3"}),
        ("{pool}/**/{node}.{roll}.json", "p/a/b/tvm_1.x.3.json", {"pool": "p", "node": "tvm_1", "roll": "x.3"}),
        ("logs/{job}:{task}/**", "logs/s:job-1:t/a/b/", {"job": "s", "task": "job-1:t"}),
        ("{job}/*", "j", {}),
        ("{job}/*", "a/b/c", {}),
        ("a+b/{job}", "a+b/j", {"job": "j"}),
        ("**", "a/b/", {}),
    ],
)
def test_a_pattern_names_the_parts_of_a_path_of_any_depth(pattern: str, path: str, labels: dict[str, str]) -> None:
    assert PathPattern(pattern).labels(path) == labels


def test_other_parts_of_a_pattern_add_nothing_to_an_identity() -> None:
    assert PathPattern("{flow}/{task}/*").identity("f/t/x") == Identity(task="t")
    assert PathPattern("{flow}/{task}/*").identity("else") == Identity()


@pytest.mark.parametrize("pattern", ["{job", "job}", "{Job}", "{}", "{job}/{job}", "a**/b", "**/**/**/x", "{a}{b}*}"])
def test_a_pattern_that_makes_no_sense_is_refused_with_a_sentence(pattern: str) -> None:
    with pytest.raises(ValueError, match="the path pattern"):
        PathPattern(pattern)


@given(st.text(st.sampled_from("a/.*{}"), max_size=12), st.text(st.sampled_from("a/."), max_size=1024))
def test_any_path_is_matched_fast(pattern: str, path: str) -> None:
    try:
        known = PathPattern(pattern)
    except ValueError:
        return
    known.labels(path)
    PathPattern("**/{a}/**/{b}").labels("a/" * 512)
