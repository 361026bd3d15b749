"""Planted breakages of writers' rights, storage's copies and keys, tags, sign-in and other clouds' settings."""

from tests.infra.breakages.planting import Breakage

_APP, _STORAGE, _WRITERS, _WRITER_ROLE = (
    f"infra/modules/{name}.bicep" for name in ("app", "storage", "container-writers", "telemetry-writer-role")
)
_MAIN, _EVENTS = "infra/main.bicep", "infra/events.bicep"
_ADD = "          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/add/action'\n"
_PATH = "@Resource[${blobs}:path] StringStartsWith"
_TELEMETRY = "    allowedSubnetIds: poolSubnetIds\n    redundancy: storageRedundancy\n"
_SERVICE = "    {}: {{\n      enabled: true\n      keyType: 'Account'\n    }}\n"

RIGHTS_BREAKAGES = (
    Breakage("writers overwrite", _WRITER_ROLE, "blobs/add/action", "blobs/write"),
    Breakage("writers delete as well", _WRITER_ROLE, _ADD, _ADD + _ADD.replace("add/action", "delete")),
    Breakage("writers may do anything with blobs", _WRITER_ROLE, "blobs/add/action", "blobs/*"),
    Breakage(
        "writers can't read back",
        _WRITER_ROLE,
        "          'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read'\n",
        "",
    ),
    Breakage("writers can't write", _WRITER_ROLE, _ADD, ""),
    Breakage(
        "writers manage the storage",
        _WRITER_ROLE,
        "actions: []",
        "actions: [\n          'Microsoft.Storage/storageAccounts/write'\n        ]",
    ),
    Breakage("the writers' role is of a kind of Azure's", _WRITER_ROLE, "'CustomRole'", "'BuiltInRole'"),
    Breakage(
        "two subscriptions want one name of the writers' role", _WRITER_ROLE, ", ${subscription().subscriptionId})", ")"
    ),
    Breakage("two environments want one name of the writers' role", _WRITER_ROLE, "(${environmentName}, ", "("),
    Breakage(
        "two environments have one role of writers",
        _MAIN,
        "guid(subscription().id, 'batchscope-telemetry', environmentName)",
        "guid(subscription().id, 'batchscope-telemetry')",
    ),
    Breakage(
        "both custom roles have one id",
        _MAIN,
        "'batchscope-telemetry', environmentName",
        "'batchscope', environmentName",
    ),
    Breakage(
        "two environments define the writers' role by one deployment",
        _MAIN,
        "'telemetry-writer-role-${environmentLabel}'",
        "'telemetry-writer-role'",
    ),
    Breakage(
        "writers hold the role that reads Batch",
        _MAIN,
        "roleId: telemetryWriterRole!.outputs.roleId",
        "roleId: batchRoleId",
    ),
    Breakage(
        "the writers' role is defined for nobody",
        _MAIN,
        "'modules/telemetry-writer-role.bicep' = if (!empty(telemetryWriters))",
        "'modules/telemetry-writer-role.bicep' = if (true)",
    ),
    Breakage(
        "nobody writes telemetry",
        _MAIN,
        "'modules/container-writers.bicep' = if (!empty(telemetryWriters))",
        "'modules/container-writers.bicep' = if (empty(telemetryWriters))",
    ),
    Breakage("writers write anywhere in the container", _WRITERS, "    conditionVersion: '2.0'\n", ""),
    Breakage("writers write in the whole account", _WRITERS, "  scope: container\n", "  scope: account\n"),
    Breakage("the condition is of an old kind", _WRITERS, "conditionVersion: '2.0'", "conditionVersion: '1.0'"),
    Breakage(
        "pools/1 writes into pools/10",
        _WRITERS,
        "endsWith(writer.prefix, '/') ? writer.prefix : '${writer.prefix}/'",
        "'${writer.prefix}'",
    ),
    Breakage(
        "a prefix with a slash gets another",
        _WRITERS,
        "endsWith(writer.prefix, '/') ? writer.prefix : '${writer.prefix}/'",
        "'${writer.prefix}/'",
    ),
    Breakage(
        "all writers have the first one's folder",
        _WRITERS,
        f"{_PATH} \\'${{folders[i]}}",
        f"{_PATH} \\'${{folders[0]}}",
    ),
    Breakage(
        "all writers list the first one's folder",
        _WRITERS,
        ":prefix] StringStartsWith \\'${folders[i]}",
        ":prefix] StringStartsWith \\'${folders[0]}",
    ),
    Breakage("paths count in any case", _WRITERS, _PATH, _PATH + "IgnoreCase"),
    Breakage("a path need not begin with the folder", _WRITERS, _PATH, "@Resource[${blobs}:path] StringNotStartsWith"),
    Breakage(
        "containers are compared with folders",
        _WRITERS,
        "@Resource[${blobs}:path]",
        "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name]",
    ),
    Breakage("writers read everything", _WRITERS, "((!${reads} AND !${adds}) OR", "((!${adds}) OR"),
    Breakage("writers add anywhere", _WRITERS, "((!${reads} AND !${adds}) OR", "((!${reads}) OR"),
    Breakage("the condition never bites", _WRITERS, "!${reads} AND !${adds}", "!${reads} OR !${adds}"),
    Breakage(
        "writers list everything",
        _WRITERS,
        " AND ((!${lists}) OR (@Request[${blobs}:prefix] StringStartsWith \\'${folders[i]}\\'))",
        "",
    ),
    Breakage("a list passes for its folder", _WRITERS, "\\'${folders[i]}\\')) AND ((!", "\\'${folders[i]}\\')) OR ((!"),
    Breakage("lists need the path of a blob", _WRITERS, "AND NOT SubOperationMatches", "AND SubOperationMatches"),
    Breakage(
        "a suboperation is misspelt",
        _WRITERS,
        "AND SubOperationMatches{\\'Blob.List\\'}",
        "AND SubOperationMatches{\\'Blobs.List\\'}",
    ),
    Breakage("writers are people", _WRITERS, "'ServicePrincipal'", "'User'"),
    Breakage("storage is kept in one place whatever is asked", _STORAGE, "'Standard_${redundancy}'", "'Standard_LRS'"),
    Breakage("storage is premium", _STORAGE, "'Standard_${redundancy}'", "'Premium_${redundancy}'"),
    Breakage(
        "telemetry is kept in one place",
        _MAIN,
        "    allowedSubnetIds: poolSubnetIds\n    redundancy: storageRedundancy\n",
        "    allowedSubnetIds: poolSubnetIds\n    redundancy: 'LRS'\n",
    ),
    Breakage("copies in another region aren't allowed", _MAIN, "  'GZRS'\n", ""),
    Breakage("another kind of copies is allowed", _MAIN, "  'GZRS'\n", "  'GZRS'\n  'RAGRS'\n"),
    Breakage(
        "every deployment pays for copies",
        _MAIN,
        "storageRedundancy string = 'LRS'",
        "storageRedundancy string = 'GRS'",
    ),
    *(
        Breakage(
            f"one's own key doesn't encrypt {service}s",
            _STORAGE,
            _SERVICE.format(service),
            _SERVICE.format(service).replace("'Account'", "'Service'"),
        )
        for service in ("queue", "table")
    ),
    Breakage("Microsoft's key encrypts instead", _STORAGE, "'Microsoft.Keyvault'", "'Microsoft.Storage'"),
    Breakage(
        "no key encrypts", _STORAGE, "encryption: empty(encryptionKeyUri) ? null : encryption", "encryption: null"
    ),
    Breakage(
        "a key is asked for that nobody has",
        _STORAGE,
        "encryption: empty(encryptionKeyUri) ? null : encryption",
        "encryption: encryption",
    ),
    Breakage(
        "the storage can't use the key",
        _STORAGE,
        "identity: empty(encryptionKeyUri) ? null : {",
        "identity: !empty(encryptionKeyUri) ? null : {",
    ),
    Breakage("the key's vault is the key", _STORAGE, "keyvaulturi: first(", "keyvaulturi: last("),
    Breakage("the key is the vault", _STORAGE, "keyname: last(", "keyname: first("),
    Breakage(
        "only the host's storage has the key",
        _MAIN,
        f"{_TELEMETRY}    encryptionKeyUri: encryptionKeyUri\n",
        f"{_TELEMETRY}    encryptionKeyUri: ''\n",
    ),
    Breakage(
        "storage uses the key as the app",
        _MAIN,
        "encryptionIdentityId: encryptionIdentityId",
        "encryptionIdentityId: identity.outputs.name",
    ),
    Breakage("tags are left out", _MAIN, "var allTags = union(tags, {", "var allTags = union({}, {"),
    Breakage(
        "a tag takes the environment's place",
        _MAIN,
        "var allTags = union(tags, {\n  'azd-env-name': environmentName\n})",
        "var allTags = union({\n  'azd-env-name': environmentName\n}, tags)",
    ),
    Breakage(
        "the plan has no tags",
        _APP,
        "  location: location\n  tags: tags\n  kind: 'functionapp'\n",
        "  location: location\n  kind: 'functionapp'\n",
    ),
    Breakage(
        "one alert has the tags of nobody",
        "infra/modules/alerts.bicep",
        "  tags: tags\n  kind: 'LogAlert'\n",
        "  kind: 'LogAlert'\n",
    ),
    Breakage("the system topic has no tags", _EVENTS, "  tags: tags\n", ""),
    Breakage("the system topic has tags of its own", _EVENTS, "= resourceGroup().tags", "= {}"),
    Breakage(
        "the group has no tags",
        _MAIN,
        "  name: names.resourceGroup\n  location: location\n  tags: allTags\n",
        "  name: names.resourceGroup\n  location: location\n",
    ),
    Breakage(
        "one instance is refused",
        _MAIN,
        "@minValue(1)\n@maxValue(1000)\nparam maximumInstanceCount",
        "@minValue(40)\n@maxValue(1000)\nparam maximumInstanceCount",
    ),
    Breakage(
        "no instance is allowed",
        _MAIN,
        "@minValue(1)\n@maxValue(1000)\nparam maximumInstanceCount",
        "@minValue(0)\n@maxValue(1000)\nparam maximumInstanceCount",
    ),
    Breakage(
        "the secret itself is a setting",
        _APP,
        "'@Microsoft.KeyVault(SecretUri=${authCredentialUri})'",
        "authCredentialUri",
    ),
    Breakage(
        "the reference to the secret is misspelt",
        _APP,
        "@Microsoft.KeyVault(SecretUri=",
        "@Microsoft.KeyVault(SecretUrl=",
    ),
    Breakage(
        "the platform can't read the secret",
        _APP,
        "    keyVaultReferenceIdentity: empty(authCredentialUri) ? null : identity.id\n",
        "",
    ),
    Breakage(
        "sign-in names the other setting",
        _APP,
        "clientSecretSettingName: signInSetting",
        "clientSecretSettingName: 'OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID'",
    ),
    Breakage(
        "sign-in is by the secret that nobody gave",
        _APP,
        "var signInSetting = empty(authCredentialUri) ?",
        "var signInSetting = !empty(authCredentialUri) ?",
    ),
    Breakage(
        "the app says of itself that sign-in is on",
        _APP,
        "authEnabledSetting ? { WEBSITE_AUTH_ENABLED: 'true' } : {}",
        "{ WEBSITE_AUTH_ENABLED: 'true' }",
    ),
    Breakage(
        "the app never hears that sign-in is on",
        _APP,
        "{ WEBSITE_AUTH_ENABLED: 'true' }",
        "{ WEBSITE_AUTH_ENABLED: 'false' }",
    ),
    Breakage(
        "the smoke test overlooks an app that doesn't know of sign-in",
        "infra/smoke_test.py",
        "    check_platform,\n",
        "",
    ),
    Breakage(
        "the smoke test takes sign-in that is off for one that is unknown",
        "infra/smoke_test.py",
        'if CLOSED in site.get("api/accounts", signed_in=False).text:',
        "if False:",
    ),
    Breakage(
        "another cloud's identity is spoken for by the public one",
        "infra/app_registration.py",
        '"AzureUSGovernment": "USGov"',
        '"AzureUSGovernment": ""',
    ),
    Breakage(
        "another cloud's registration is exposed in the public one",
        "infra/app_registration.py",
        'cloud(call)["endpoints"]["microsoftGraphResourceId"].rstrip("/")',
        '"https://graph.microsoft.com"',
    ),
    Breakage(
        "events of a private app are subscribed",
        "infra/event_subscriptions.py",
        'return str(shown.get("publicNetworkAccess")).lower() == "disabled"',
        "return False",
    ),
    Breakage(
        "a writer's snapshots never end",
        _STORAGE,
        "            snapshot: {\n"
        "              delete: {\n"
        "                daysAfterCreationGreaterThan: rule.days\n"
        "              }\n"
        "            }\n",
        "",
    ),
    Breakage(
        "the host looks for storage in the public cloud",
        _APP,
        "var storageSettings = environment().name == 'AzureCloud' ?",
        "var storageSettings = environment().name != '' ?",
    ),
    Breakage(
        "the host is told addresses in the public cloud",
        _APP,
        "environment().name == 'AzureCloud' ?",
        "environment().name == 'AzurePublicCloud' ?",
    ),
    Breakage(
        "another cloud's host has no queues",
        _APP,
        "  AzureWebJobsStorage__queueServiceUri: hostStorage.properties.primaryEndpoints.queue\n",
        "",
    ),
    Breakage(
        "another cloud's tables are looked for among blobs",
        _APP,
        "tableServiceUri: hostStorage.properties.primaryEndpoints.table",
        "tableServiceUri: hostStorage.properties.primaryEndpoints.blob",
    ),
)
