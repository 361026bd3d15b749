"""The evaluator of Bicep, on small files."""

from pathlib import Path
from typing import Any

import pytest

from tests.infra.bicep.files import File
from tests.infra.bicep.resources import SUBSCRIPTION, Scope
from tests.infra.bicep.syntax import BicepError

GROUP = Scope(SUBSCRIPTION, "rg")
ACCOUNT = "resource a 'Microsoft.Storage/storageAccounts@2025-06-01' = {\n  name: 'store'\n}\n"


def deployed(tmp_path: Path, source: str, **parameters: Any) -> File:
    path = tmp_path / "small.bicep"
    path.write_text(source)
    return File(path, GROUP, parameters).deploy()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'a${1}b ${'c'} '", "a1b c "),
        ("replace('a b', ' ', '')", "ab"),
        ("'it\\'s'", "it's"),
        ("true ? 'a' : object.b", "a"),
        ("false ? 'a' : object.b", "B"),
        ("false ? 'a' : object.c[1].d", "D"),
        ("empty('') && !contains([ 'a' ], 'b') ? 'yes' : 'no'", "yes"),
        ("join(map([ 'a', 'b' ], x => '${x}!'), ',')", "a!,b!"),
        ("last(split('a/b', '/'))", "b"),
        ("string(5)", "5"),
        ("cidrSubnet('10.0.0.0/24', 26, 1)", "10.0.0.64/26"),
        ("resourceGroup().location", "the group's region"),
    ],
)
def test_an_expression_is_worked_out(tmp_path: Path, expression: str, value: str) -> None:
    source = f"var object = {{\n  b: 'B'\n  c: [\n    1\n    {{ d: 'D' }}\n  ]\n}}\noutput o string = {expression}\n"
    assert deployed(tmp_path, source).outputs == {"o": value}


def test_ids_follow_parents_and_scopes(tmp_path: Path) -> None:
    kind = "Microsoft.Storage/storageAccounts/blobServices@2025-06-01"
    child = f"resource b '{kind}' = {{\n  parent: a\n  name: 'default'\n}}\n"
    role = "resource c 'Microsoft.Authorization/roleAssignments@2022-04-01' = {\n  scope: b\n  name: 'x'\n}\n"
    file = deployed(tmp_path, ACCOUNT + child + role)
    store = f"{GROUP.id}/providers/Microsoft.Storage/storageAccounts/store"
    assert [found.id for found in file.everything] == [
        store,
        f"{store}/blobServices/default",
        f"{store}/blobServices/default/providers/Microsoft.Authorization/roleAssignments/x",
    ]
    assert file.depends_on("c") == {"a", "b"}


def test_loops_and_conditions_make_the_resources_that_they_say(tmp_path: Path) -> None:
    loop = ACCOUNT.replace("= {", "= [for (n, i) in names: if (i > 0) {").replace("'store'", "n").replace("}\n", "}]\n")
    file = deployed(tmp_path, f"param names string[]\n{loop}", names=["a", "b", "c"])
    assert [found.name for found in file.everything] == ["b", "c"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("var a = {\n", "is not Bicep"),
        ("var a = b\nvar b = a\noutput o string = a\n", "is a circle"),
        ("output o string = nothing\n", "there is no nothing"),
        ("output o string = foo('x')\n", "the function foo"),
        ("output o int = 'x'\n", "the output o is not int"),
        ("param a int\n", "needs the parameter a"),
        ("targetScope = 'subscription'\n", "is meant for a subscription"),
        (f"{ACCOUNT}output o string = a.properties.primaryEndpoint\n", "isn't known at this time"),
        (ACCOUNT.replace("  name: 'store'\n", ""), "has no name"),
        (ACCOUNT.replace("Accounts@", "Accounts/blobServices@"), "is its parent missing?"),
        ("module a 'br/public:a:1' = {\n  name: 'a'\n}\n", "is not a file of this repository"),
    ],
)
def test_invalid_values_are_named(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(BicepError, match=said.replace("?", r"\?")):
        deployed(tmp_path, source)


@pytest.mark.parametrize("value", [0, 6, "3", True])
def test_a_parameter_outside_its_limits_is_refused(tmp_path: Path, value: object) -> None:
    source = "@minValue(1)\n@maxValue(5)\nparam a int\noutput o int = a\n"
    assert deployed(tmp_path, source, a=5).outputs == {"o": 5}
    with pytest.raises(BicepError, match=r"small\.bicep: a "):
        deployed(tmp_path, source, a=value)
