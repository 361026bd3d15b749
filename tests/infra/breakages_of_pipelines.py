"""Planted breakages of parameters, workflows, hooks, scripts and tool settings."""

from tests.infra.planting import Breakage

_CI, _DEPLOY, _WHAT_IF = (f".github/workflows/{name}.yml" for name in ("ci", "deploy", "whatif"))
_SMOKE, _EVENTS, _SIGN_IN = (f"infra/{name}.py" for name in ("smoke_test", "event_subscriptions", "app_registration"))
_HOST, _LINTER = "host.json", "infra/bicepconfig.json"

PIPELINE_BREAKAGES = (
    Breakage(
        "a required parameter isn't given",
        "infra/main.parameters.json",
        '    "batchAccountIds": { "value": "${BATCH_ACCOUNT_IDS}" },\n',
        "",
    ),
    Breakage("an unknown parameter is given", "infra/main.parameters.json", '"logDailyQuotaGb"', '"logQuotaGb"'),
    Breakage(
        "a parameter is of the wrong type", "infra/main.parameters.json", '{ "value": 2048 }', '{ "value": "2048" }'
    ),
    Breakage(
        "a placeholder has no variable", _DEPLOY, "          BATCH_ACCOUNT_IDS: ${{ vars.BATCH_ACCOUNT_IDS }}\n", ""
    ),
    Breakage(
        "an action is not pinned", _DEPLOY, "azure/login@a457da9ea143d694b1b9c7c869ebb04ebe844ef5", "azure/login@v2"
    ),
    Breakage("a workflow may write", _DEPLOY, "contents: read", "contents: write"),
    Breakage(
        "a workflow has a secret",
        _DEPLOY,
        "client-id: ${{ vars.AZURE_CLIENT_ID }}",
        "client-id: ${{ secrets.AZURE_CLIENT_ID }}",
    ),
    Breakage("strangers' code runs with rights", _WHAT_IF, "pull_request:", "pull_request_target:"),
    Breakage("the package isn't built remotely", _DEPLOY, " --build-remote true", ""),
    Breakage("the smoke test can't fail", _DEPLOY, "--patience 600", "--patience 600 || true"),
    Breakage("an expression is misspelt", _DEPLOY, "steps.provision.outputs.app", "steps.provison.outputs.app"),
    Breakage(
        "a key is given twice",
        _CI,
        "    timeout-minutes: 10\n",
        "    timeout-minutes: 10\n    timeout-minutes: 10\n",
    ),
    Breakage(
        "the compiler isn't run",
        _CI,
        "          az bicep build --file infra/main.bicep --stdout > /dev/null\n",
        "",
    ),
    Breakage("a hook is missing", "azure.yaml", "  postprovision:", "  postrestore:"),
    Breakage(
        "a hook gets the wrong output",
        "azure.yaml",
        '--app "$AZURE_FUNCTION_APP_NAME"',
        '--app "$AZURE_RESOURCE_GROUP"',
    ),
    Breakage(
        "a lint rule is off",
        "infra/bicepconfig.json",
        '"no-unused-params": { "level": "error" }',
        '"no-unused-params": { "level": "off" }',
    ),
    Breakage("a command is misspelt", _DEPLOY, "config-zip", "config-zipp"),
    Breakage("polls of before the deployment count", _DEPLOY, ' --polled-after "$DEPLOYED"', ""),
    Breakage("the smoke test takes anything", _DEPLOY, "--patience 600", "--patience 600 --max-age 999999"),
    Breakage("the linter can't fail", _CI, "lint --file infra/main.bicep", "lint --file infra/main.bicep || echo no"),
    Breakage("what-if can't fail", _WHAT_IF, '"$GITHUB_STEP_SUMMARY"', '"$GITHUB_STEP_SUMMARY" || echo ignored'),
    Breakage("what-if needs the right to write", _WHAT_IF, " --validation-level ProviderNoRbac", ""),
    Breakage("the checks can't fail", _CI, "run: bash .ci/run", "run: bash .ci/run; exit 0"),
    Breakage("the checks end well whatever happens", ".ci/run", '[ "$skipped" -eq 0 ]', '[ "$skipped" -eq 0 ]\ntrue'),
    Breakage("failed tests are overlooked", ".ci/run", ' && [ "$tested" -eq 0 ]', ""),
    Breakage("what CI has not passed is deployed", _DEPLOY, "    needs: ci\n", ""),
    Breakage(
        "every environment has one registration", "azure.yaml", '"batchscope-$AZURE_ENV_NAME"', '"batchscope-dev"'
    ),
    Breakage("an old extension bundle is taken", _HOST, "[4.*, 5.0.0)", "[3.*, 4.0.0)"),
    Breakage("functions may run for hours", _HOST, "00:10:00", "10:00:00"),
    Breakage("long reads run side by side", _HOST, '"batchSize": 1,', '"batchSize": 32,'),
    Breakage("ticks are not logged", _HOST, '"default": "Information"', '"default": "Warning"'),
    Breakage("a lint rule is gone", _LINTER, '        "max-params": { "level": "error" },\n', ""),
    Breakage("the smoke test ends well", _SMOKE, "return 1 if failed else 0", "return 0"),
    Breakage("the smoke test takes failed polls", _SMOKE, 'outcome != "succeeded"', 'outcome == "unheard of"'),
    Breakage("the smoke test takes strangers getting in", _SMOKE, "if not refused and not sent_away", "if False"),
    Breakage("the token goes where it is sent", _SMOKE, "build_opener(_NoRedirect)", "build_opener()"),
    Breakage(
        "an app without functions is fine",
        _EVENTS,
        '    raise CommandError(f"{app} has',
        '    return []\n    raise CommandError(f"{app} has',
    ),
    Breakage("a container's name is cut", _EVENTS, '.partition("/")[0]', '.partition("/")[2]'),
    Breakage(
        "everybody of the tenant gets in", _SIGN_IN, "appRoleAssignmentRequired=true", "appRoleAssignmentRequired=false"
    ),
    Breakage(
        "tokens are of version 1", _SIGN_IN, '"requestedAccessTokenVersion": 2', '"requestedAccessTokenVersion": 1'
    ),
    Breakage(
        "name and region are each other's",
        "infra/main.parameters.json",
        '"${AZURE_ENV_NAME}" },\n    "location": { "value": "${AZURE_LOCATION}" }',
        '"${AZURE_LOCATION}" },\n    "location": { "value": "${AZURE_ENV_NAME}" }',
    ),
    Breakage("a missing tool is not installed", ".ci/run", "chromium curl collectd-core", "chromium collectd-core"),
    Breakage("CI tests a part only", ".ci/run", "dev.py test ", "dev.py test -k quick "),
    Breakage("every deployment may log much", "infra/main.parameters.json", '"value": 1 }', '"value": 500 }'),
    Breakage(
        "every deployment is private",
        "infra/main.parameters.json",
        '"privateNetworking": { "value": false',
        '"privateNetworking": { "value": true',
    ),
    Breakage(
        "a deployment is not tested",
        _CI,
        "    timeout-minutes: 60\n",
        "    if: github.event_name == 'pull_request'\n    timeout-minutes: 60\n",
    ),
    Breakage("the app is sought by its group", _DEPLOY, "outputs.app }}", "outputs.group }}"),
    Breakage(
        "a token for the pipeline itself is asked for",
        _DEPLOY,
        "vars.AUTH_CLIENT_ID }}\n          DEPLOYED",
        "vars.AZURE_CLIENT_ID }}\n          DEPLOYED",
    ),
    Breakage(
        "deployments run side by side",
        _DEPLOY,
        "deploy-${{ inputs.environment || 'dev' }}",
        "deploy-${{ github.run_id }}",
    ),
    Breakage("what-if is asked in production", _WHAT_IF, "environment: what-if", "environment: prod"),
    Breakage(
        "every step goes on after a failure",
        _DEPLOY,
        "jobs:\n",
        "defaults:\n  run:\n    shell: bash {0}\n\njobs:\n",
    ),
    Breakage(
        "the page of a deployment is no address",
        _DEPLOY,
        "url: ${{ steps.provision.outputs.url",
        "url: ${{ steps.provision.outputs.app",
    ),
    Breakage(
        "code is deployed before there is an app",
        "azure.yaml",
        "hooks:\n  preprovision",
        "workflows:\n  up:\n    steps:\n      - azd: deploy --all\n      - azd: provision\nhooks:\n  preprovision",
    ),
    Breakage(
        "code is deployed to another app",
        "azure.yaml",
        "    remoteBuild: true\n",
        "    remoteBuild: true\n    resourceName: other\n",
    ),
    Breakage(
        "Bicep is for another cloud",
        _LINTER,
        '  "analyzers"',
        '  "cloud": { "currentProfile": "AzureUSGovernment" },\n  "analyzers"',
    ),
    Breakage("people of every tenant may sign in", _SIGN_IN, "AzureADMyOrg", "AzureADMultipleOrgs"),
    Breakage("the identity's word is not taken", _SIGN_IN, '"api://AzureADTokenExchange"', '"api://AzureAD"'),
    Breakage("two roles have one id", _SIGN_IN, '1f01", "Reads acc', '1f02", "Reads acc'),
    Breakage("programs may ask for nothing", _SIGN_IN, '"value": "user_impersonation"', '"value": "access"'),
    Breakage("answers are tables", "infra/azure_cli.py", ', "--output", "json"', ""),
    Breakage("workflows may look anyhow", ".yamllint.yaml", "extends: default", "extends: relaxed"),
    Breakage("a role is for programs only", _SIGN_IN, '["User", "Application"]', '["Application"]'),
    Breakage("another program is trusted", _SIGN_IN, "04b07795-8ddb", "1950a258-227b"),
    Breakage("another template is deployed for events", _EVENTS, '"events.bicep"', '"main.bicep"'),
    Breakage("the smoke test takes any health", _SMOKE, 'status not in {"healthy", "degraded"}', "status is None"),
)
