"""Planted breakages of parameters, workflows, hooks, scripts and tool settings."""

from tests.infra.planting import Breakage

_CI, _DEPLOY, _WHAT_IF, _BACKUP = (f".github/workflows/{name}.yml" for name in ("ci", "deploy", "whatif", "backup"))
_SMOKE, _EVENTS, _SIGN_IN = (f"infra/{name}.py" for name in ("smoke_test", "event_subscriptions", "app_registration"))
_RELEASE, _CODEQL = (f".github/workflows/{name}.yml" for name in ("release", "codeql"))
_PUBLISH, _RIGHTS, _PLACES = (f"infra/{name}.py" for name in ("publish", "deployment_rights", "deployment_places"))
_CLI, _TOOLS = "infra/azure_cli.py", "infra/deployment_tools.py"
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
    Breakage("another package is deployed", _DEPLOY, "dist/batchscope.zip", "dist/other.zip"),
    Breakage("nothing is checked first", _DEPLOY, "        run: python3 dev.py deploy-check\n", "        run: echo\n"),
    Breakage("what is wrong doesn't matter", _DEPLOY, "dev.py deploy-check", "dev.py deploy-check || true"),
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
    Breakage("a command is misspelt", _DEPLOY, "infra publish", "infra publishh"),
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
        "      - azd: provision\n      - azd: deploy app --from-package dist/batchscope.zip\n",
        "      - azd: deploy app --from-package dist/batchscope.zip\n      - azd: provision\n",
    ),
    Breakage(
        "code is deployed to another app",
        "azure.yaml",
        "    remoteBuild: false\n",
        "    remoteBuild: false\n    resourceName: other\n",
    ),
    Breakage(
        "Bicep is for another cloud",
        _LINTER,
        '  "analyzers"',
        '  "cloud": { "currentProfile": "AzureUSGovernment" },\n  "analyzers"',
    ),
    Breakage("people of every tenant may sign in", _SIGN_IN, "AzureADMyOrg", "AzureADMultipleOrgs"),
    Breakage("the identity's word is not taken", _SIGN_IN, '"api://AzureADTokenExchange{', '"api://AzureAD{'),
    Breakage("two roles have one id", _SIGN_IN, '1f01", "Reads acc', '1f02", "Reads acc'),
    Breakage("programs may ask for nothing", _SIGN_IN, '"value": "user_impersonation"', '"value": "access"'),
    Breakage(
        "cmd.exe takes an address apart",
        _SIGN_IN,
        'applications/{object_id}"',
        "applications(id='{object_id}')\"",
    ),
    Breakage(
        "a registration is made in whatever tenant",
        _SIGN_IN,
        "    if wanted != asked:",
        "    if not wanted and not asked:",
    ),
    Breakage("resources are asked for in whatever subscription", _CLI, '("--subscription", subscription)', "()"),
    Breakage("azd needs no login", _TOOLS, 'if answer["status"] != "success"', "if not answer"),
    Breakage("a role that is switched off is granted", _SIGN_IN, 'if each.get("isEnabled", True)}', "}"),
    Breakage("answers are tables", _CLI, ', "--output", "json"', ""),
    Breakage("workflows may look anyhow", ".yamllint.yaml", "extends: default", "extends: relaxed"),
    Breakage("a role is for programs only", _SIGN_IN, '["User", "Application"]', '["Application"]'),
    Breakage("another program is trusted", _SIGN_IN, "04b07795-8ddb", "1950a258-227b"),
    Breakage("another template is deployed for events", _EVENTS, '"events.bicep"', '"main.bicep"'),
    Breakage("a hook goes on without Python", "azure.yaml", "$ErrorActionPreference = 'Stop';\n", "\n"),
    Breakage("a hook goes on after a failure", "azure.yaml", "--azd; exit $LASTEXITCODE", "--azd"),
    Breakage(
        "the client id isn't kept", "azure.yaml", '"batchscope-$AZURE_ENV_NAME" --azd', '"batchscope-$AZURE_ENV_NAME"'
    ),
    Breakage("azd lets Azure build", "azure.yaml", "remoteBuild: false", "remoteBuild: true"),
    Breakage("an azd that lets Azure build all the same will do", "azure.yaml", ">= 1.23.5", ">= 1.20.0"),
    Breakage("azd packs the folder", "azure.yaml", "            exit 1\n", "            exit 0\n"),
    Breakage("azd deploys what was built before", "azure.yaml", "  predeploy:", "  postup:"),
    Breakage(
        "the build can log in to Azure",
        _DEPLOY,
        "      - name: Provision\n",
        "      - name: Build the package\n        run: python3 dev.py build\n      - name: Provision\n",
    ),
    Breakage("the package isn't the built one", _DEPLOY, "    needs: package\n", "    needs: ci\n"),
    Breakage("any tag is a release", _RELEASE, "v[0-9]+.[0-9]+.[0-9]+", "*"),
    Breakage("what CI has not passed is released", _RELEASE, "    needs: ci\n", ""),
    Breakage("the package is not attested", _RELEASE, "subject-path: dist/*", "subject-path: dist/SHA256SUMS"),
    Breakage("a release tells nothing of what is in it", _RELEASE, "          python3 dev.py sbom\n", ""),
    Breakage("a release needs no reviewer", _RELEASE, "    environment: release\n", ""),
    Breakage("a tag that isn't there is released", _RELEASE, " --verify-tag", ""),
    Breakage("Python is not analysed", _CODEQL, "actions,javascript-typescript,python", "actions"),
    Breakage("the analysis is not pinned", _CODEQL, "analyze@8aad20d150bbac5944a9f9d289da16a4b0d87c1e", "analyze@v4"),
    Breakage("the analysis may write code", _CODEQL, "contents: read", "contents: write"),
    Breakage("a lock file is never updated", ".github/dependabot.yml", "[/web, /local/node]", "[/web]"),
    Breakage("what came out today is proposed", ".github/dependabot.yml", "default-days: 7", "default-days: 0"),
    Breakage("Azure builds the package", _PUBLISH, "RemoteBuild=false", "RemoteBuild=true"),
    Breakage("a failed deployment is fine", _PUBLISH, "_SUCCEEDED = 4", "_SUCCEEDED = 3"),
    Breakage("a refused package is sent again", _PUBLISH, '"BlobUpload" in body', "True"),
    Breakage("a new app fails at once", _PUBLISH, "HTTPStatus.FORBIDDEN, ", ""),
    Breakage("a deployment that was never there is fine", _PUBLISH, "NOT_FOUND and seen", "NOT_FOUND"),
    Breakage("rights that are taken back count", _RIGHTS, "and not _has(each", "and _has(each"),
    Breakage("rights on accounts don't matter", _RIGHTS, "if not may(permissions, ASSIGN)", "if False"),
    Breakage(
        "what is wrong is fine",
        "infra/deploy_check.py",
        "        return 1\n    if unknown",
        "        return 0\n    if unknown",
    ),
    Breakage("every region will do", _PLACES, "if deployment.location not in regions", "if not regions"),
    Breakage("taken names will do", _PLACES, 'if not answer["nameAvailable"]', "if not answer"),
    Breakage("an old command line will do", _TOOLS, "MIN_AZ = (2, 76)", "MIN_AZ = (2, 60)"),
    Breakage("the smoke test takes any health", _SMOKE, 'status not in {"healthy", "degraded"}', "status is None"),
    Breakage("a backup isn't checked", _BACKUP, "restore --check", "restore"),
    Breakage("backups overwrite each other", _BACKUP, '--resume --name "run-$RUN"', '--resume --name "weekly"'),
    Breakage("a backup can't be gone on with", _BACKUP, 'backup --resume --name "run-$RUN"', "backup"),
    Breakage("a failed check of a backup can't be repeated", _BACKUP, "--resume ", ""),
    Breakage("there are no weekly backups", _BACKUP, '  schedule:\n    - cron: "17 3 * * 0"\n', ""),
    Breakage("a production environment is never backed up", _BACKUP, "vars.BACKUP_ENVIRONMENTS || ", ""),
    Breakage("one failed backup ends the others", _BACKUP, "fail-fast: false", "fail-fast: true"),
    Breakage("environments write one backup", _BACKUP, "${{ matrix.environment }}-${{", "${{"),
    Breakage("a backup logs in to the public cloud only", _BACKUP, "vars.AZURE_CLOUD || ", ""),
    Breakage("a release bears another version", ".github/workflows/release.yml", "${TAG#v}", "0"),
    Breakage(
        "a package finds no deployment site with newer tools",
        _PUBLISH,
        'flat(call("functionapp", "show", "--resource-group", group, "--name", app))',
        'call("functionapp", "show", "--resource-group", group, "--name", app) or {}',
    ),
    Breakage(
        "rights of writers aren't looked at",
        _RIGHTS,
        'if deployment.parameters.get("telemetryWriters") and',
        "if False and",
    ),
    Breakage("two backups run at once", _BACKUP, "cancel-in-progress: false", "cancel-in-progress: true"),
    Breakage("a backup logs in with a secret", _BACKUP, "vars.AZURE_CLIENT_ID", "secrets.AZURE_CLIENT_ID"),
    Breakage("a backup may write to the repository", _BACKUP, "contents: read", "contents: write"),
    Breakage(
        "a backup is of no storage", _BACKUP, "          BATCHSCOPE_STORAGE: ${{ vars.BATCHSCOPE_STORAGE }}\n", ""
    ),
    Breakage("a backup runs without an environment", _BACKUP, "    environment: ${{ matrix.environment }}\n", ""),
)
