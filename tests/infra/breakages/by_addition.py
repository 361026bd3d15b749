"""Planted breakages that say one thing more, or say it for another deployment: nothing that was there looks wrong."""

from tests.infra.breakages.planting import Breakage

_APP, _STORAGE, _NETWORK = (f"infra/modules/{name}.bicep" for name in ("app", "storage", "network"))
_MONITORING, _ALERTS, _BATCH = (f"infra/modules/{name}.bicep" for name in ("monitoring", "alerts", "batch-account"))
_MAIN, _EVENTS = "infra/main.bicep", "infra/events.bicep"


_BETWEEN = """      JOB_HORIZON_DAYS: string({})
      MAX_BATCH_CALLS_PER_MINUTE: string(maxBatchCallsPerMinute)
      POLL_OVERLAP_SECONDS: string(pollOverlapSeconds)
      POLL_SECONDS: string(pollSeconds)
      POLL_STATUS_DAYS: string({})
"""


def _added(name: str, file: str, before: str, *lines: str) -> Breakage:
    """Lines come in before a place, indented as it is."""
    indent = before[: len(before) - len(before.lstrip())]
    return Breakage(name, file, before, "".join(f"{indent}{line}\n" for line in lines) + before)


ADDITIONS = (
    _added(
        "a role holds on a condition only",
        _BATCH,
        "    principalType: 'ServicePrincipal'\n",
        "condition: '@Resource[Microsoft.Batch/batchAccounts:name] StringEquals \\'x\\''",
        "conditionVersion: '2.0'",
    ),
    _added(
        "people of another provider sign in",
        _APP,
        "      azureActiveDirectory: {\n",
        "gitHub: {",
        "  enabled: true",
        "  registration: {",
        "    clientId: 'abc'",
        "  }",
        "}",
    ),
    _added(
        "an answer to a sign-in can be used again",
        _APP,
        "      tokenStore: {\n",
        "nonce: {",
        "  validateNonce: false",
        "}",
    ),
    _added(
        "the address of sign-in moves", _APP, "      requireHttps: true\n", "routes: {", "  apiPrefix: '/auth'", "}"
    ),
    _added("a function is switched off", _APP, "    BATCH_ACCOUNTS: join", "'AzureWebJobs.tick.Disabled': 'true'"),
    _added(
        "queues are another account's",
        _APP,
        "    BATCH_ACCOUNTS: join",
        "AzureWebJobsStorage__queueServiceUri: 'https://other.queue.core.windows.net'",
    ),
    _added(
        "blobs are announced by another account's queue",
        _APP,
        "    BATCH_ACCOUNTS: join",
        "TELEMETRY_STORAGE__queueServiceUri: 'https://other.queue.core.windows.net'",
    ),
    _added("the plan is paid for in three zones", _APP, "    reserved: true\n", "zoneRedundant: true"),
    _added("versions of blobs never end", _STORAGE, "    deleteRetentionPolicy: {\n", "isVersioningEnabled: true"),
    _added(
        "changes of blobs are written down",
        _STORAGE,
        "    deleteRetentionPolicy: {\n",
        "changeFeed: {",
        "  enabled: true",
        "}",
    ),
    Breakage("what was deleted is kept for a year", _STORAGE, "      days: 7\n", "      days: 365\n"),
    Breakage("every read of a blob is paid for", _STORAGE, "accessTier: 'Hot'", "accessTier: 'Cool'"),
    _added(
        "a range of addresses gets in",
        _STORAGE,
        "      bypass: 'AzureServices'\n",
        "ipRules: [",
        "  {",
        "    action: 'Allow'",
        "    value: '20.0.0.0/8'",
        "  }",
        "]",
    ),
    _added(
        "storage answers in another DNS zone", _STORAGE, "    accessTier: 'Hot'\n", "dnsEndpointType: 'AzureDnsZone'"
    ),
    _added("blobs have directories", _STORAGE, "    accessTier: 'Hot'\n", "isHnsEnabled: true"),
    _added(
        "telemetry is refused",
        _MONITORING,
        "    IngestionMode: 'LogAnalytics'\n",
        "publicNetworkAccessForIngestion: 'Disabled'",
    ),
    _added("logs are refused", _MONITORING, "    retentionInDays:", "publicNetworkAccessForIngestion: 'Disabled'"),
    _added("most telemetry is left out", _MONITORING, "    IngestionMode: 'LogAnalytics'\n", "SamplingPercentage: 1"),
    _added("clients' addresses are kept", _MONITORING, "    IngestionMode: 'LogAnalytics'\n", "DisableIpMasking: true"),
    _added(
        "an output of a module is a connection string",
        _MONITORING,
        "@description('Resource id of the workspace",
        "@description('Connection string of the component.')",
        "output connectionString string = applicationInsights.properties.ConnectionString",
        "",
    ),
    _added("alerts look at two days", _ALERTS, "    windowSize: rule.window\n", "overrideQueryTimeRange: 'P2D'"),
    _added(
        "alerts are told to a webhook",
        _ALERTS,
        "    emailReceivers: [\n",
        "webhookReceivers: [",
        "  {",
        "    name: 'other'",
        "    serviceUri: 'https://example.com/'",
        "    useCommonAlertSchema: true",
        "  }",
        "]",
    ),
    Breakage("alerts are told to a stranger", _ALERTS, "emailAddress: email", "emailAddress: 'x${email}'"),
    _added(
        "names are asked of strangers",
        _NETWORK,
        "    subnets: [\n",
        "dhcpOptions: {",
        "  dnsServers: [",
        "    '8.8.8.8'",
        "  ]",
        "}",
    ),
    _added("the app can't get out", _NETWORK, "          delegations: [\n", "defaultOutboundAccess: false"),
    _added("the network costs thousands", _NETWORK, "    subnets: [\n", "enableDdosProtection: true"),
    _added("only some blobs are announced", _EVENTS, "      subjectBeginsWith:", "subjectEndsWith: '.json'"),
    _added("events end some day", _EVENTS, "    retryPolicy: {\n", "expirationTimeUtc: '2027-01-01T00:00:00Z'"),
    Breakage("names are of one cloud", _MAIN, "${environment().suffixes.storage}", "core.windows.net"),
    Breakage(
        "sign-in is at one cloud's",
        _APP,
        "${environment().authentication.loginEndpoint}",
        "https://login.microsoftonline.com/",
    ),
    Breakage(
        "two settings are each other's",
        _MAIN,
        _BETWEEN.format("jobHorizonDays", "pollStatusDays"),
        _BETWEEN.format("pollStatusDays", "jobHorizonDays"),
    ),
    Breakage(
        "two environments deploy to an account by one name",
        _MAIN,
        "name: 'batchscope-${environmentLabel}-${suffix}-${i}'",
        "name: 'batchscope-${i}'",
    ),
    Breakage(
        "two environments define a role by one deployment",
        _MAIN,
        "name: 'batch-role-${environmentLabel}'",
        "name: 'batch-role'",
    ),
    Breakage(
        "two subscriptions send an account's logs by one name",
        _MAIN,
        "'batchscope-${environmentLabel}-${subscription().subscriptionId}'",
        "'batchscope-${environmentLabel}'",
    ),
    Breakage(
        "two subscriptions want one role name",
        "infra/modules/batch-role.bicep",
        "(${environmentName}, ${subscription().subscriptionId})",
        "(${environmentName})",
    ),
)
