"""What a Flex Consumption plan takes and what it refuses, as its own errors and its table of deprecations say.

Source: "App settings reference for Azure Functions", Flex Consumption plan deprecations; ARM error 51021, "The
following list of site configuration properties … for Flex Consumption sites is invalid".
"""

from collections.abc import Callable, Iterator

from tests.infra.rules.scenarios import Scenario

REFUSED_SITE_PROPERTIES = {
    "alwaysOn",
    "ftpsState",
    "functionsRuntimeScaleMonitoringEnabled",
    "javaVersion",
    "linuxFxVersion",
    "netFrameworkVersion",
    "powerShellVersion",
    "preWarmedInstanceCount",
    "use32BitWorkerProcess",
    "vnetRouteAllEnabled",
    "windowsFxVersion",
}
"""Of `siteConfig`; FTP is off by the publishing policy `ftp`, runtime and scale are told in `functionAppConfig`."""
TAKEN_SITE_PROPERTIES = {
    "http20Enabled",
    "ipSecurityRestrictions",
    "ipSecurityRestrictionsDefaultAction",
    "minTlsVersion",
    "remoteDebuggingEnabled",
    "scmMinTlsVersion",
}
"""Of `siteConfig`, and no others: what is entered here was looked up."""
TAKEN_APP_PROPERTIES = {
    "functionAppConfig",
    "httpsOnly",
    "keyVaultReferenceIdentity",
    "publicNetworkAccess",
    "serverFarmId",
    "siteConfig",
    "virtualNetworkSubnetId",
}
REFUSED_SETTINGS = {
    "ENABLE_ORYX_BUILD",
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_MAX_HTTP_CONCURRENCY",
    "FUNCTIONS_WORKER_DYNAMIC_CONCURRENCY_ENABLED",
    "FUNCTIONS_WORKER_PROCESS_COUNT",
    "FUNCTIONS_WORKER_RUNTIME",
    "FUNCTIONS_WORKER_RUNTIME_VERSION",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "TZ",
    "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
    "WEBSITE_CONTENTOVERVNET",
    "WEBSITE_CONTENTSHARE",
    "WEBSITE_DNS_SERVER",
    "WEBSITE_MAX_DYNAMIC_APPLICATION_SCALE_OUT",
    "WEBSITE_NODE_DEFAULT_VERSION",
    "WEBSITE_RUN_FROM_PACKAGE",
    "WEBSITE_SKIP_CONTENTSHARE_VALIDATION",
    "WEBSITE_TIME_ZONE",
    "WEBSITE_VNET_ROUTE_ALL",
}
"""App settings that the plan refuses, ignores, or replaces by `functionAppConfig`."""
_SCALE = {"instanceMemoryMB", "maximumInstanceCount", "triggers"}


def site_that_flex_takes(scenario: Scenario) -> Iterator[str]:
    site = scenario.app
    for name in sorted(site.get("properties.siteConfig", {}).keys() - TAKEN_SITE_PROPERTIES):
        why = "Flex Consumption refuses" if name in REFUSED_SITE_PROPERTIES else "nobody has looked up"
        yield f"{why} the site property {name}"
    for name in sorted(site.get("properties").keys() - TAKEN_APP_PROPERTIES):
        yield f"nobody has looked up the app's property {name}"
    scale = site.get("properties.functionAppConfig.scaleAndConcurrency")
    if scale.keys() != _SCALE or scale["triggers"].keys() != {"http"}:
        yield f"the app scales by {sorted(scale)}: instances that are always ready cost money day and night"


def settings_that_flex_takes(scenario: Scenario) -> Iterator[str]:
    for name in sorted(REFUSED_SETTINGS & {name.upper() for name in scenario.settings}):
        yield f"Flex Consumption refuses the setting {name}"


SCENARIO_RULES: tuple[Callable[[Scenario], Iterator[str]], ...] = (site_that_flex_takes, settings_that_flex_takes)
