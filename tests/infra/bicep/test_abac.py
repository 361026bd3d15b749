"""The reader of conditions, on small ones: a wrong reader would let a wrong condition pass."""

import pytest

from tests.infra.bicep.abac import ADD, READ, BlobRequest, allows
from tests.infra.bicep.syntax import BicepError

PATH = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs:path"


@pytest.mark.parametrize(
    ("condition", "request_", "allowed"),
    [
        (f"ActionMatches{{'{READ}'}}", BlobRequest(READ, path="a"), True),
        (f"ActionMatches{{'{READ}'}}", BlobRequest(ADD, path="a"), False),
        (f"!(ActionMatches{{'{READ}'}})", BlobRequest(ADD, path="a"), True),
        ("SubOperationMatches{'Blob.List'}", BlobRequest(READ, prefix="a/"), True),
        ("NOT SubOperationMatches{'Blob.List'}", BlobRequest(READ, path="a"), True),
        (f"@Resource[{PATH}] StringStartsWith 'a/'", BlobRequest(READ, path="a/b"), True),
        (f"@Resource[{PATH}] StringStartsWith 'a/'", BlobRequest(READ, path="A/b"), False),
        (f"@Resource[{PATH}] StringStartsWith 'a/'", BlobRequest(READ, prefix="a/"), False),
        (
            f"!ActionMatches{{'{READ}'}} OR ActionMatches{{'{READ}'}} AND !ActionMatches{{'{READ}'}}",
            BlobRequest(READ),
            False,
        ),
    ],
)
def test_a_condition_is_evaluated_for_a_request(condition: str, request_: BlobRequest, allowed: bool) -> None:  # noqa: FBT001
    assert allows(condition, request_) is allowed


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "(ActionMatches{'x'}",
        "ActionMatches{'x'} ActionMatches{'y'}",
        "ActionMatches{'x'} OR",
        "ActionMatches('x')",
        f"@Resource[{PATH}] StringLike 'a*'",
        "@Principal[x] StringStartsWith 'a'",
        "@Resource[x:y] StringStartsWith 'a'",
    ],
)
def test_unknown_syntax_is_refused(condition: str) -> None:
    with pytest.raises(BicepError):
        allows(condition, BlobRequest(READ, path="a"))
