import base64
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.redaction.redaction import MARK, is_harmless_word, redacted
from tests.domain.support.bounded import quick

SECRET = "Tr0ub4dor-and-3"
KEY = base64.b64encode(bytes(range(64))).decode()
TOKEN = f"eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 20}"

TEXTS = {
    "a shared access signature": "https://a.blob.core.windows.net/c/b?sv=2024-01-01&sig={}&se=2026",
    "a connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core.windows.net",
    "a shared access key": "Endpoint=sb://b/;SharedAccessKeyName=n;SharedAccessKey={}",
    "an environment setting": "DB_PASSWORD={} ./run.sh",
    "a quoted setting": "export API_KEY='{}' && run",
    "an argument": "tool --password {} --verbose",
    "an argument with an equals sign": "tool --client-secret={} --verbose",
    "JSON": '{{"accessToken": "{}", "other": 1}}',
    "a header": "curl -H 'Authorization: Bearer {}' https://example.org",
    "a quoted argument": 'tool --password "{}" --verbose',
    "an argument of two words": "tool --password 'my {}' --verbose",
    "an argument in double quotes": 'tool --client-secret "abc {}" --verbose',
    "PASS alone": "PASS={} ./run.sh",
    "a name that ends in PASS": "DB_PASS={} ./run.sh",
    "names run together": "PGPASSWORD={} psql",
    "a password without a user": "git clone https://:{}@example.org/repo.git",
    "an address of another scheme": "redis://:{}@cache.example.org:6379/0",
    "an encoded signature": "run --from https%3A%2F%2Fa.example%2Fb%3Fsv%3D1%26sig%3D{}",
    "a parameter of PowerShell": "New-AzStorageContext -StorageAccountKey {} -Name a",
    "a quoted parameter of PowerShell": "Connect-Db -Password 'my {}' -Name a",
    "mysql's own way": "mysql -u root -p{} shop",
    "sshpass's own way": "sshpass -p {} ssh host",
    "curl's own way": "curl -u user:{} https://example.org",
    "curl's longer way": "curl -sS --user 'user:{}' https://example.org",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "half a private key": "it began -----BEGIN OPENSSH PRIVATE KEY-----\n{}\nAAAA",
    "JSON with an escaped quote": '{{"password":"a\\"b {}"}}',
    "JSON within a text": '"{{\\"password\\": \\"a {}\\", \\"b\\": 1}}"',
    "JSON that is cut short": '{{"password": "a {}',
    "a login to Azure": "az login --service-principal -u app -p {} --tenant t",
    "a login to a registry": "docker login -u me -p {} registry.example.org",
    "a login that is joined": "podman login --username me -p={} registry.example.org",
    "sqlcmd's own way": "sqlcmd -S server -U user -P {} -Q x",
    "an archive's password": "7z x a.7z -p{} -o/tmp",
    "SSHPASS": "export SSHPASS='my {}'; sshpass -e ssh host",
    "PowerShell's plain text": "ConvertTo-SecureString '{}' -AsPlainText -Force",
    "PowerShell's plain text in a variable": "$password = ConvertTo-SecureString -String {} -AsPlainText",
    "a share that is mounted": "net use Z: \\\\a.file.core.windows.net\\s /user:Azure\\a {}",
    "a function's key": "curl 'https://f.azurewebsites.net/api/go?a=b&code={}' -o c",
    "a header of no scheme": "curl -H 'Authorization: {}' https://example.org",
    "a header of another scheme": 'curl -H "Authorization: token {}" https://example.org',
    "a header in PowerShell": "iwr https://example.org -Headers @{{Authorization='token {}'}}",
    "a header in JSON": '{{"headers": {{"Authorization": "{}"}}}}',
    "a setting for later": "setx DB_PASSWORD {} /M",
    "fish's own way": "fish -c 'set -gx DB_PASSWORD {}; run'",
    "csh's own way": 'setenv API_KEY "{}"',
    "a configuration": "aws configure set aws_secret_access_key {}",
    "a short name": "tool --pass {} --verbose",
    "a token of an address": "tool --sas '{}' --verbose",
    "a store's password": "keytool -storepass {} -list",
    "a token as a user": "git clone https://{}@github.com/x/y",
    "a key of PGP": "it: -----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    "an address with a password": "git clone https://user:{}@example.org/repo.git",
    "a setting quoted within quotes": "/bin/bash -c " + shlex.quote("export PASSWORD='{}' && run"),
    "two words quoted within quotes": "/bin/bash -c " + shlex.quote("tool --password 'my {}' --verbose"),
    "two words quoted within quotes of quotes": "ssh h " + shlex.quote("sh -c " + shlex.quote("DB_PASSWORD='my {}' x")),
    "quotes that a backslash brings in": "sh -c 'PASSWORD='\\''my {} x'\\'' run'",
    "a single quote within": "tool --password " + shlex.quote("it's {}") + " --verbose",
    "a single quote and a space within": "tool --password " + shlex.quote("it' {}") + " --verbose",
    "a single quote within quotes within quotes": "sh -c " + shlex.quote("A_KEY=" + shlex.quote("it's my {}") + " x"),
    "a backslash before a single quote": "tool --password " + shlex.quote("\\' {}") + " --verbose",
    "double quotes within double quotes": 'sh -c "tool --password \\"my {}\\" --verbose"',
    "an escaped quote in JSON within a text": '"{{\\"key\\":\\"a\\\\\\"b {}\\",\\"o\\":1}}"',
    "a comma": "tool --password x,{} --verbose",
    "an escaped space": "DB_PASSWORD=x\\ {} ./run.sh",
    "an escaped semicolon": "DB_PASSWORD=x\\;{} ./run.sh",
    "pieces that stand together": "tool --password \"a b\"c'd {}' --verbose",
    "PASS behind what it is for": "DBPASS={} ./run.sh",
    "PASS behind whose it is": 'MY_USERPASS="my {}" ./run.sh',
    "an argument for a database": "tool --dbpass {} --verbose",
    "an argument for a database's user": "tool --target-dbuserpass={} --verbose",
    "a key that is called secret": "SECRETKEY={} ./run.sh",
    "a key to encrypt with": "tool --opts encryptionkey={} --verbose",
    "a token of storage": "STORAGE_SAS='?sv=1&{}' ./run.sh",
    "SAS alone": "export SAS={}",
    "a token of Azure DevOps": "AZURE_DEVOPS_EXT_PAT={} az pipelines run",
    "PAT in JSON": '{{"pat": "{}", "other": 1}}',
    "PAT for later": "setx AZURE_DEVOPS_EXT_PAT {} /M",
    "credentials": "CREDENTIALS={} ./run.sh",
    "a credential": "tool --credential {} --verbose",
    "a credential in PowerShell": "Connect-Db -Credential '{}' -Name a",
    "a code": "PASSCODE={} ./run.sh",
    "what authorizes": "tool --auth {} --verbose",
    "Windows' credential store": "cmdkey /add:a.file.core.windows.net /user:Azure\\a /pass:{}",
    "Redis' own way": "redis-cli -h cache -p 6380 -a {} ping",
    "a cookie": "curl -H 'Cookie: session={}; a=b' https://example.org",
    "a cookie that is set": "Set-Cookie: sid={}; HttpOnly",
    "curl's own way of cookies": 'curl -b "sid={}" https://example.org',
    "a list of arguments": '["run", "--password", "{}"]',
    "a setting in JSON": '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "a setting in YAML": "- name: DB_PASSWORD\n  value: {}",
    "a setting in XML": '<add key="ApiKey" value="{}" />',
    "an element of XML": "<dbPassword>{}</dbPassword>",
    "an element of XML that is cut": "<dbPassword>\n  {}\n",
    "a password with an at": "git clone https://user:a@{}@example.org/repo.git",
    "a setting in an address": "https://example.org/?to=AccountKey%3D{}",
    "a signature of AWS": "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature={}",
    "a signature of Google": "https://storage.googleapis.com/b/o?X-Goog-Signature={}",
    "a signature of CloudFront": "https://d.cloudfront.net/x?Policy=abc&Signature={}&Key-Pair-Id=K",
    "openssl's own way": "openssl rsa -passin pass:{} -in k",
    "an assignment": "password := {}",
    "an assignment in Ruby": ':password => "{}"',
    "a channel of Slack": "curl https://hooks.slack.com/services/T000/B000/{}",
    "a channel of Teams": "https://x.webhook.office.com/webhookb2/a/IncomingWebhook/{}",
    "a token in letters": "Authorization: Bearer abcdefghijkl{}",
    "what stands for a client": "grant_type=client_credentials&client_assertion={}&scope=x",
    "a line of netrc": "machine example.org login me password {}",
    "a line that goes on": 'tool --password "a\\\n{}" --verbose',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_secret_is_taken_out_and_the_rest_stays(text: str) -> None:
    shown = redacted(text.format(SECRET))
    assert SECRET not in shown
    assert MARK in shown
    assert shown.split(MARK)[0] or text.startswith("-----BEGIN")


def test_an_account_key_and_a_token_are_known_by_their_looks() -> None:
    assert redacted(f"the key is {KEY}, or") == f"the key is {MARK}, or"
    assert redacted(f"the token {TOKEN}.") == f"the token {MARK}."
    assert redacted(f"HF=hf_{'a1' * 17} run") == f"HF={MARK} run"
    assert redacted(f"X=sk-proj-{'a1' * 17} run") == f"X={MARK} run"
    assert redacted(f"pushed with ghp_{'a1' * 18}.") == f"pushed with {MARK}."
    assert redacted("id AKIAIOSFODNN7EXAMPLE, or") == f"id {MARK}, or"
    assert redacted(f"add ssh-rsa AAAAB3NzaC1yc2E{'a1+/' * 9}== me@here") == f"add {MARK} me@here"
    assert redacted(f"ssh-ed25519 AAAAC3NzaC1lZDI1{'a1' * 9} me") == f"{MARK} me"


def test_a_secret_behind_a_scheme_is_taken_out_once_for_all() -> None:
    shown = redacted(f"Authorization: Bearer {SECRET} and more")
    assert SECRET not in shown
    assert redacted(shown) == shown


def test_a_login_kept_by_docker_is_taken_out() -> None:
    login = base64.b64encode(f"user:{SECRET}".encode()).decode()
    assert redacted(f'{{"auths": {{"r.example.org": {{"auth": "{login}"}}}}}}') == (
        f'{{"auths": {{"r.example.org": {{"auth": "{MARK}"}}}}}}'
    )


@pytest.mark.parametrize(
    "token",
    ["npm_" + "a1B2" * 9, "pypi-AgE" + "a1B2" * 9, "hvs." + "a1B2" * 9, "sk_live_" + "a1B2" * 6, "dapi" + "0a" * 16,
     "AIza" + "a1B2c" * 7, "SG." + "a1B2" * 5 + "." + "a1B2" * 10, "dckr_pat_" + "a1B2" * 6, "xapp-1-" + "a1B2" * 8,
     "dop_v1_" + "0a" * 32, "dapi" + "0a" * 16 + "-2"],
)  # fmt: skip
def test_tokens_of_well_known_services_are_known_by_their_begin(token: str) -> None:
    assert redacted(f"run {token} x") == f"run {MARK} x"
    assert not is_harmless_word(token)


def test_the_text_around_a_secret_stays() -> None:
    assert redacted('tool --password "a b" --verbose') == f"tool --password {MARK} --verbose"
    assert redacted('{"password":"a\\"b c","other":1}') == f'{{"password":{MARK},"other":1}}'
    assert redacted("mysql -phunter2 shop | wc -l") == f"mysql -p{MARK} shop | wc -l"
    assert redacted("sh -c 'run --token abc' && sh -c 'b'") == f"sh -c 'run --token {MARK}' && sh -c 'b'"
    assert redacted('{"a": "run --token abc", "b": 1}') == f'{{"a": "run --token {MARK}", "b": 1}}'
    assert redacted("AccountKey=a,Other=b") == f"AccountKey={MARK},Other=b"
    assert redacted('{"key":"a12","other":1}') == f'{{"key":{MARK},"other":1}}'
    assert redacted("sh -c " + shlex.quote("A_KEY='a b' && run")) == f"sh -c 'A_KEY={MARK} && run'"


@pytest.mark.parametrize(
    "text",
    [
        "A better model was found",
        "monkey business, turkey and keyboards",
        "render --frame 12 --output https://a.blob.core.windows.net/c/b.png",
        "Feature film, reel 4: signature scene",
        "no tokens left",
        "monkey=banana",
        "hotkey: F5, turkey=2",
        "passed=3 bypass=1, pass: 3, fail: 2",
        "docker run -u 1000:1000 -p 80:80 image",
        "docker run -p 80:80 image login; unzip a.zip -d b",
        "https://example.org/a@b?code-name=x, exit code=3, --passes 3 --path /a",
        "az storage blob upload -p x; set -x; set -ex; chmod u+x a",
        "render --key-frames 5 --max-tokens 7",
        "COMPASS=1 BYPASS=2 PATH=/a:/b PATTERN=x COMPARE=y PATCH=3 ENCOMPASS=4 TRESPASS=5 MULTIPASS=6 LOWPASS=7",
        "az storage blob list --auth login; tool --auth=basic --auth none",
        "tool --compass n --bypass x --pattern p --patch q --auth-mode login --authority a --credential-file f",
        "setx PATH /a; set -x PATTERN b; setx BYPASS 1; setx MONKEY 2",
        "the passes: 3, credentials: none, sas: 9.4, pat: on the back, keyboard=us, sassy=1",
        "cmdkey /list; a /bypass:3, redis-cli -h cache ping; redis-server -a; ls -a b",
        '{"path": "/a", "compass": "n", "pattern": "*", "sasha": 1}',
        "basic training, Basic configuration, bearer certificates",
        "rotate-key:job-1 and sync_token:job-12 are jobs of schedules",
        "a cookie: chocolate; curl -b jar https://example.org",
        "pypi-mirror-nightly-build-2024 npm_package_registry_sync_job xapp-nightly-simulations-big",
        "SG.southeastasia.cloudapp.azure.com npm_config_update_notifier_off dapi-service-of-the-nightly-build",
        '["run", "--password", "--verbose"]',
        "see <password> for details, then run the tool",
        "API_KEY must-be-given-by-everybody, DB_PASSWORD isn't set; login as root, password is asked for",
        "Invalid login or password supplied; missing AZ_KEY\n2026-01-01T00:00:00Z failed",
        "STORAGE_KEY https://a.blob.core.windows.net/c1 not set, PRIMARY_KEY PK_orders_2024 violated",
        "SORT_KEY orders_by_day_2024 SHARD_KEY 2026-11-21T10:00:00Z the default password is used",
        "INVALID_TOKEN user1234567's session\nSSH_KEY /home/user1/.ssh/id_ed25519",
        "default login root password isn't set",
        "at Task<AccessToken> Foo.Bar()\n  at Baz",
        '{"name": "HOME", "value": "/root"} <path>/a</path> ["--path", "/a"] "auth": "login"',
        "",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "-a" * 20_000,
        "curl -u " * 2_000,
        "mysql " * 5_000,
        "docker login " * 5_000,
        "net use " * 5_000,
        "setx " * 9_000,
        "redis-cli " * 5_000,
        "redis-cli -a " * 5_000,
        "/pass:" * 3_000,
        "--dbpass" * 9_000,
        "dbuser" * 12_000,
        "--db-" * 12_000,
        "storagesas " * 9_000,
        "credentials" * 9_000,
        "setx PAT" * 9_000,
        'password="' + "\\" * 40_000,
        "-eyJ" * 20_000,
        "-eyJ" * 5_000 + "12345678." + "-eyJ" * 5_000,
        """password='"'"x""" * 4_000,
        "password=x" + '"' * 40_000,
        "password=" + "'" * 40_000,
        "password=" + "''\"" * 10_000,
        "curl -b " * 2_500,
        "cookie: " * 9_000,
        "<password>" * 7_000,
        "<" + "a" * 70_000,
        "name=password " * 5_000,
        "name=" + "key" * 20_000,
        "--password'," * 6_000,
        "a://b:" * 10_000,
        "bearer " * 10_000,
        "basic " + "a" * 70_000,
        "machine a login a password " * 3_000,
        "A_KEY " * 9_000,
        '"protectedSettings":{' + "{a}" * 20_000,
        " -u a -p " * 4_000,
        "snmpget -A " * 6_000,
        'variable "password" {' * 3_000,
        "a=x." * 18_000,
        "token: {" * 9_000,
        "$6$" * 20_000,
        '"password" \'-' * 6_000,
        '"secrets":{"a":' * 1_500,
        "read PASSWORD <<< a " * 3_000,
        "echo a1 > b " * 5_000,
        "u/p@h:1521 " * 6_000,
        " ".join(f"--password $p{number}" for number in range(4_000)),
        "A_KEY=<<E\n" * 2_000,
        "secrets:\n" * 7_000,
        "secrets:\n - a: b\n" * 3_000,
        "sed s/key/ " * 2_500,
        " login -a" * 7_000,
        " -p aA1@" * 8_000,
        '"kty"' * 5_000,
        "chpasswd:\n" * 6_000,
        "<RSAKeyValue>" * 5_000,
        "a.password" * 6_000,
        "set('x', 'password', " * 3_000,
    ],
)
def test_long_text_takes_no_longer_than_its_length_warrants(text: str) -> None:
    with quick(2, text[:20]):
        redacted(text)


@given(st.text("'\" ,;&$<>!)}b", max_size=6), st.sampled_from(["A_KEY={} run", "run --token {} -x"]), st.integers(0, 2))
def test_a_value_quoted_for_a_shell_is_taken_out_whole(between: str, form: str, depth: int) -> None:
    text = form.format(shlex.quote(f"zq1{between}zq1"))
    for _ in range(depth):
        text = "sh -c " + shlex.quote(text)
    assert "zq1" not in redacted(text)


PARTS = st.sampled_from(
    ["ghp_", "github_pat_", "glpat-", "hf_", "sk-", "sk-ant-", "xoxb-", "npm_", "SG.", "AKIA", "ASIA", "eyJ",
     "password", "Key", "key",
     "API_KEY", "monkey", "pass", "token", "authorization", "Authorization", "bearer", "sig", "code", ":", ".", "-",
     "--", "+", "_", "A1b2C3d4E5f6G7h8I9j0", "ABCDEFGH12345678", "aB" * 43, "é", "to\u212aen", "user-key"]
)  # fmt: skip


@given(st.lists(PARTS | st.from_regex(r"[\w.\-:+]{0,9}", fullmatch=True), max_size=6).map("".join))
def test_a_word_that_is_harmless_stays_as_it_is(word: str) -> None:
    assert not is_harmless_word(word) or redacted(word) == word


@pytest.mark.parametrize("word", ["tvmps_0123456789abcdef_d", "2019-08-22T20:59:13.5698778Z", "task-1", "A", ""])
def test_ids_and_times_are_harmless(word: str) -> None:
    assert is_harmless_word(word)


@given(st.text(max_size=300))
def test_any_text_can_be_redacted_and_again_without_change(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once
