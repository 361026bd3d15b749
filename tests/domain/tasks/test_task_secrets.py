"""Planted secrets are removed everywhere in a full task, and unknown fields are dropped."""

import json
from typing import Any

import msgspec
import pytest

from shared.domain.redaction.redaction import MARK
from shared.domain.tasks.task_details import ShownProperties, TaskDetails
from shared.domain.tasks.task_secrets import _RULES, address, details_of, run_options
from tests.domain.support.bounded import quick

SECRET = "Tr0ub4dor-and-3"
SAS = f"sv=2024-11-04&se=2027&sr=b&sig={SECRET}"
BLOB = "https://a.blob.core.windows.net/c/b.zip"
SENT: dict[str, Any] = {
    "id": "task",
    "state": "completed",
    "url": "https://demo.eastus.batch.azure.com/jobs/job/tasks/task",
    "creationTime": "2026-11-21T07:00:00.1234567Z",
    "displayName": "frame 7",
    "commandLine": "render --frame 7",
    "requiredSlots": 2,
    "constraints": {"maxWallClockTime": "PT1H", "retentionTime": "P7D", "maxTaskRetryCount": 3},
    "environmentSettings": [{"name": "MODE", "value": "fast"}, {"name": "EMPTY"}],
    "resourceFiles": [{"httpUrl": BLOB, "filePath": "b.zip", "fileMode": "0770"}],
    "containerSettings": {"imageName": "busybox:1", "containerRunOptions": "--rm --cpus 2"},
    "userIdentity": {"autoUser": {"scope": "pool", "elevationLevel": "nonadmin"}},
    "exitConditions": {"exitCodes": [{"code": 3, "exitOptions": {"jobAction": "none", "dependencyAction": "block"}}]},
    "dependsOn": {"taskIds": ["a", "b"], "taskIdRanges": [{"start": 1, "end": 9}]},
    "multiInstanceSettings": {"numberOfInstances": 4, "coordinationCommandLine": "start mpi"},
    "executionInfo": {
        "startTime": "2026-11-21T07:01:00Z",
        "exitCode": 3,
        "failureInfo": {
            "category": "userError",
            "code": "FailureExitCode",
            "message": "It failed.",
            "details": [{"name": "Message", "value": "exit code 3"}],
        },
        "retryCount": 0,
        "requeueCount": 0,
        "result": "failure",
    },
    "nodeInfo": {"poolId": "pool", "nodeId": "tvm-1"},
    "stats": {"userCPUTime": "PT1S", "readIOps": "12", "readIOGiB": 0.5, "waitTime": "PT0S"},
}
"""A task without secrets, as the service sends it: numbers of operations as texts."""

PLANTED: dict[str, dict[str, Any]] = {
    "an environment value that looks like nothing": {"environmentSettings": [{"name": "MODE", "value": SECRET}]},
    "a command line": {"commandLine": f"run --password {SECRET}"},
    "an address within a command line": {"commandLine": f"curl '{BLOB}?{SAS}' -o b"},
    "the name": {"displayName": f"AccountKey={SECRET}"},
    "a resource file": {"resourceFiles": [{"httpUrl": f"{BLOB}?{SAS}"}]},
    "a resource file's query that isn't a signature": {"resourceFiles": [{"httpUrl": f"{BLOB}?code={SECRET}"}]},
    "a container of resource files": {"resourceFiles": [{"storageContainerUrl": f"{BLOB}?{SAS}"}]},
    "an address with a user": {"resourceFiles": [{"httpUrl": f"https://{SECRET}@example.org/b"}]},
    "an output container": {"outputFiles": [{"destination": {"container": {"containerUrl": f"{BLOB}?{SAS}"}}}]},
    "an upload header": {
        "outputFiles": [{"destination": {"container": {"uploadHeaders": [{"name": "x-ms-meta-a", "value": SECRET}]}}}]
    },
    "a registry's password": {"containerSettings": {"registry": {"username": "u", "password": SECRET}}},
    "a container's variable": {"containerSettings": {"containerRunOptions": f"--rm -e MODE={SECRET} --cpus 2"}},
    "a user's password": {"userIdentity": {"username": "u", "password": SECRET}},
    "a coordination command": {"multiInstanceSettings": {"coordinationCommandLine": f"PGPASSWORD={SECRET} start"}},
    "common files": {"multiInstanceSettings": {"commonResourceFiles": [{"httpUrl": f"{BLOB}?{SAS}"}]}},
    "why it failed": {"executionInfo": {"failureInfo": {"message": f"403 from {BLOB}?{SAS}"}}},
    "a detail of why it failed": {
        "executionInfo": {"failureInfo": {"details": [{"name": "FilePath", "value": f"{BLOB}?{SAS}"}]}}
    },
    "a container's error": {"executionInfo": {"containerInfo": {"error": f"login --password {SECRET}"}}},
    "a detail of a failure whose name says that it is secret": {
        "executionInfo": {"failureInfo": {"details": [{"name": "Password", "value": SECRET}]}}
    },
    "a property nobody knows": {"novelty": {"value": SECRET}},
    "a property nobody knows within one that is known": {"userIdentity": {"novelty": [SECRET]}},
}


def shown(sent: dict[str, Any]) -> dict[str, Any]:
    details, omitted = details_of(json.dumps(sent).encode())
    return {**msgspec.to_builtins(details), "omitted": list(omitted)}


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED.keys())
def test_no_planted_secret_leaves(planted: dict[str, Any]) -> None:
    assert SECRET in json.dumps({**SENT, **planted})
    text = json.dumps(shown({**SENT, **planted}))
    assert SECRET not in text


def test_plain_properties_are_shown_as_sent() -> None:
    expected = json.loads(json.dumps(SENT))
    expected["environmentSettings"][0]["value"] = MARK
    expected["stats"]["readIOps"] = 12
    assert shown(SENT) == {**expected, "omitted": []}


def test_omitted_properties_are_named_once() -> None:
    sent = {**SENT, "novelty": 1, "resourceFiles": [{"filePath": "a", "owner": "x"}, {"owner": "y"}]}
    found = shown(sent)
    assert found["omitted"] == ["resourceFiles.owner", "novelty"]
    assert found["resourceFiles"] == [{"filePath": "a"}, {}]


def test_addresses_keep_their_place_only() -> None:
    assert address(f"{BLOB}?{SAS}") == f"{BLOB}?{MARK}"
    assert address(f"{BLOB}#{SECRET}") == f"{BLOB}?{MARK}"
    assert address(f"https://u:{SECRET}@example.org/a@b") == f"https://{MARK}@example.org/a@b"
    assert address(BLOB) == BLOB


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (f"-e A={SECRET}", f"-e A={MARK}"),
        (f"--env A={SECRET} --rm", f"--env A={MARK} --rm"),
        (f"--env=A={SECRET}", f"--env=A={MARK}"),
        (f"-eA={SECRET}", f"-eA={MARK}"),
        (f"-e A='my {SECRET}' --rm", f"-e A={MARK} --rm"),
        (f'-e "A=my {SECRET}" --rm', f"-e A={MARK} --rm"),
        (f"-e 'A=my {SECRET}' --rm", f"-e A={MARK} --rm"),
        (f"-e A=my\\ {SECRET} --rm", f"-e A={MARK} --rm"),
        (f'-e A="my \\" {SECRET}" --rm', f"-e A={MARK} --rm"),
        (f'-e A=a"b c"{SECRET} --rm', f"-e A={MARK} --rm"),
        (f"-e spring.mail.user={SECRET} --rm", f"-e spring.mail.user={MARK} --rm"),
        (f"--env A-B:c={SECRET}", f"--env A-B:c={MARK}"),
        (f'-e "a.b=my {SECRET}" --rm', f"-e a.b={MARK} --rm"),
        (f"-ite A={SECRET} --rm", f"-ite A={MARK} --rm"),
        (f"--label mode={SECRET} image", f"--label mode={MARK} image"),
        (f"'--env=A={SECRET}'", f"--env=A={MARK}"),
        (f'"-e" A={SECRET}', f"-e A={MARK}"),
        (f'-e"A"={SECRET}', f"-eA={MARK}"),
        (f"--env = A={SECRET}", f"--env = A={MARK}"),
        (f"-e=A={SECRET}", f"-e=A={MARK}"),
        (f"-e $'A={SECRET}'", f"-e '$A'={MARK}"),
        (f"-l A={SECRET} --annotation B={SECRET}", f"-l A={MARK} --annotation B={MARK}"),
        (f"-e 'A=it'\\''s {SECRET}' --rm", f"-e A={MARK} --rm"),
        (f'-e "A=abc"{SECRET} --rm', f"-e A={MARK} --rm"),
        (f"-e A=a --name 'b c' --log-opt token='{SECRET} x'", f"-e A={MARK} --name 'b c' --log-opt token={MARK}"),
        ("-e HOME --workdir=/a --name=b", "-e HOME --workdir=/a --name=b"),
        ("--env-file a.env -v /a:/b", "--env-file a.env -v /a:/b"),
        ("--mount type=bind,src=C:\\a,dst=C:\\b", "--mount type=bind,src=C:\\a,dst=C:\\b"),
    ],
)
def test_options_of_a_container_keep_the_names_of_variables_only(given: str, kept: str) -> None:
    assert run_options(given) == kept


def test_options_that_no_shell_could_read_are_not_shown() -> None:
    assert run_options(f'-e A="my \\" {SECRET}') == MARK
    assert run_options(f"--name b -e 'A={SECRET}") == MARK


@pytest.mark.parametrize("text", [" -" + "e" * 40_000 + "!", " -" + "e" * 40_000, "-e A=b " * 5_000])
def test_long_options_take_no_longer_than_their_length_warrants(text: str) -> None:
    with quick(2, text[:20]):
        run_options(text)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"id": 1, "state": []}', b'{"id": "a", "state": "b", "stats": 7}']
)
def test_a_task_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, ValueError)):
        details_of(body)


def test_every_kind_that_has_a_value_or_a_password_or_an_address_has_a_rule_for_it() -> None:
    """A new kind or property with such a name needs a decision."""
    touchy = ("password", "url", "value", "options", "server")
    plain = {
        ("NameValue", "value"),
        ("PercentPerZone", "value"),
        ("UploadOptions", "upload_condition"),
        ("ExitCode", "exit_options"),
    }
    plain |= {("ExitCodeRange", "exit_options"), ("OutputFile", "upload_options"), ("ProxyAgent", "wire_server")}
    for kind in ShownProperties.__subclasses__() + [
        sub for each in ShownProperties.__subclasses__() for sub in each.__subclasses__()
    ]:
        for name in kind.__struct_fields__:
            if any(word in name for word in touchy) and (kind.__name__, name) not in plain:
                rules = next((rules for known, rules in _RULES.items() if issubclass(kind, known)), {})
                assert name in rules, (kind, name)


def test_a_kind_is_shown_whole() -> None:
    details, _ = details_of(json.dumps(SENT).encode())
    assert isinstance(details, TaskDetails)
    assert details.constraints
    assert details.constraints.max_task_retry_count == 3
