import pytest

from local.functions_host.http.routes import Route, RouteTable


def parameters(template: str, path: str) -> dict[str, str] | None:
    return Route.parse("f", template, []).match(path)


@pytest.mark.parametrize(
    ("template", "path", "expected"),
    [
        ("jobs", "/jobs", {}),
        ("jobs", "/Jobs/", {}),
        ("jobs", "/jobs/1", None),
        ("jobs/{j}", "/jobs/a", {"j": "a"}),
        ("jobs/{j}", "/jobs", None),
        ("jobs/{j}", "/jobs/schedule:job-1", {"j": "schedule:job-1"}),
        ("jobs/{j?}", "/jobs", {}),
        ("jobs/{j=all}", "/jobs", {"j": "all"}),
        ("jobs/{j=all}", "/jobs/x", {"j": "x"}),
        ("{*path}", "/", {}),
        ("{*path}", "/a/b.js", {"path": "a/b.js"}),
        ("a/{*path}", "/a", {}),
        ("{a}/{b}.csv", "/x/y.csv", {"a": "x", "b": "y"}),
        ("{n:int}", "/-12", {"n": "-12"}),
        ("{n:int}", "/1a", None),
        ("{n:int:min(3)}", "/2", None),
        ("{n:int:min(3)}", "/3", {"n": "3"}),
        ("{n:range(2,4)}", "/5", None),
        ("{n:alpha}", "/ab", {"n": "ab"}),
        ("{n:alpha}", "/a1", None),
        ("{n:bool}", "/TRUE", {"n": "TRUE"}),
        ("{n:length(2)}", "/abc", None),
        ("{n:length(2,3)}", "/abc", {"n": "abc"}),
        ("{n:minlength(2)}", "/a", None),
        ("{n:maxlength(2)}", "/abc", None),
        ("{n:datetime}", "/2026-11-21", {"n": "2026-11-21"}),
        ("{n:guid}", "/0f8fad5b-d9cb-469f-a165-70867728950e", {"n": "0f8fad5b-d9cb-469f-a165-70867728950e"}),
        (r"{n:regex(^a\d{{2}}$)}", "/zz", None),
        (r"{n:regex(^[ab]+$)}", "/abba", {"n": "abba"}),
        ("{n:int?}", "/", {}),
    ],
)
def test_a_template_matches_its_paths_only(template: str, path: str, expected: dict[str, str] | None) -> None:
    assert parameters(template, path) == expected


@pytest.mark.parametrize("template", ["a/{", "a/}b", "{n:nonsense}", "{n:min(x)}", "{a b}", "{n:range()}"])
def test_an_invalid_template_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="isn't a route"):
        Route.parse("f", template, [])


def test_a_literal_beats_a_constrained_parameter_that_a_plain_one_and_that_a_catch_all() -> None:
    templates = ["items/{*rest}", "items/{name}", "items/{n:int}", "items/special"]
    table = RouteTable(Route.parse(template, template, ["GET"]) for template in templates)

    def served(path: str) -> str | None:
        found = table.find("GET", path)
        return found.function if found else None

    assert served("/items/special") == "items/special"
    assert served("/items/7") == "items/{n:int}"
    assert served("/items/x") == "items/{name}"
    assert served("/items/x/y") == "items/{*rest}"
    assert served("/else") is None


def test_the_method_chooses_among_functions_of_one_route() -> None:
    table = RouteTable([Route.parse("read", "thing", ["get"]), Route.parse("write", "thing", ["PUT"])])
    assert getattr(table.find("PUT", "/thing"), "function", None) == "write"
    assert getattr(table.find("GET", "/thing"), "function", None) == "read"
    assert table.find("DELETE", "/thing") is None


def test_names_of_parameters_make_no_difference_to_a_shape() -> None:
    assert Route.parse("a", "x/{one}", []).shape == Route.parse("b", "X/{two}", []).shape
    assert Route.parse("a", "x/{one:int}", []).shape != Route.parse("b", "x/{two}", []).shape
