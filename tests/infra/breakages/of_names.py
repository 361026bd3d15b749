"""Planted breakages that show only with two of something: accounts in a group, environments, writers, roles, hosts."""

from tests.infra.breakages.planting import Breakage

_BATCH, _WRITERS = (f"infra/modules/{name}.bicep" for name in ("batch-account", "container-writers"))
_MAIN, _SMOKE = "infra/main.bicep", "infra/smoke_test.py"
_READER = "guid(batchAccount.id, principalId, roleId)"
_WRITER = "guid(container.id, writer.principalId, roleId)"

TWO_OF_EACH = (
    Breakage("a region spelled otherwise gets another app", _MAIN, "toLower(replace(location, ' ', ''))", "location"),
    Breakage(
        "one letter of a region decides on names",
        _MAIN,
        "toLower(replace(location, ' ', ''))",
        "replace(location, ' ', '')",
    ),
    Breakage(
        "deployments of earlier versions get another app",
        _MAIN,
        "toLower(replace(location, ' ', ''))",
        "toLower(replace(location, ' ', '-'))",
    ),
    Breakage("two regions want one name", _MAIN, ", toLower(replace(location, ' ', ''))", ""),
    Breakage(
        "two accounts of one group have one role assignment",
        _BATCH,
        _READER,
        _READER.replace("batchAccount", "resourceGroup()"),
    ),
    Breakage(
        "two environments have one role assignment on an account", _BATCH, _READER, "guid(batchAccount.id, roleId)"
    ),
    Breakage("another role takes the place of the first", _BATCH, _READER, "guid(batchAccount.id, principalId)"),
    Breakage(
        "two writers of telemetry have one role assignment",
        _WRITERS,
        _WRITER,
        _WRITER.replace(" writer.principalId,", ""),
    ),
    Breakage(
        "a writer keeps its old folder when it gets another",
        _WRITERS,
        _WRITER,
        _WRITER.replace("roleId)", "roleId, writer.prefix)"),
    ),
    Breakage(
        "two environments have one diagnostic setting on an account",
        _MAIN,
        "diagnosticSetting: 'batchscope-${environmentLabel}-",
        "diagnosticSetting: 'batchscope-",
    ),
    Breakage(
        "two accounts of one group have one deployment", _MAIN, "-${suffix}-${i}'", "-${suffix}-${length(accountIds)}'"
    ),
    Breakage(
        "sign-in is wherever an address begins like it",
        _SMOKE,
        "there.netloc in _SIGN_IN_HOSTS",
        "there.netloc.startswith(tuple(_SIGN_IN_HOSTS))",
    ),
    Breakage("sign-in is at any host that has its path", _SMOKE, "there[:2] == here[:2] and ", ""),
)
