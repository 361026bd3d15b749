"""Programs that take a secret by an option of their own, or at a position without an option."""

import re

from shared.domain.redaction.secrets.rules import Rule, rule
from shared.domain.redaction.secrets.values import VALUE

_WITHIN = r"[^\n|;&]{0,500}?"
_WORD = r"(?:[^\s|;&\"'-][^\s|;&\"']*|\"[^\"\n]*\"|'[^'\n]*')"
_NO_REFERENCE = r"(?!\\*\"?(?:\$[A-Za-z_{(]|%[A-Za-z_]+%)|<|-|\"\"|''|https?:)"
_SECRET = f"{_NO_REFERENCE}{VALUE}"


def _any(programs: str) -> str:
    return "|".join(map(re.escape, programs.split()))


def _apart(option: str) -> str:
    """Returns an option's pattern that also matches lists of arguments, with more text before a value."""
    option = f"(?i:{option})" if "/" in option else option
    return option.replace("[ =]?", "(?:=|[ ]{0,6})").replace("[ =]", "(?:=|[ ]{1,6})")


_SNMP = "snmpget snmpwalk snmpset snmpbulkwalk snmpbulkget snmpgetnext snmptrap snmptable snmpinform"
# Programs, and the options before a secret; a space or nothing separates most of them from it.
_BY_OPTION = (
    ("sqlcmd bcp osql isql-fb", r"-P[ =]?"),
    ("zip unzip", r"-P[ =]?(?=\S)"),
    ("7z 7za 7zr 7zz", r"-[pP](?=\S)"),
    ("rar unrar", r"-h?p(?=\S)"),
    ("mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mariadb-admin", r"-p(?=\S)"),
    ("mongo mongosh mongodump mongorestore mongoimport mongoexport", r"-p[ =]?"),
    ("ldappasswd", r"-s\s+"),
    ("swift", r"-K\s+"),
    ("ascp ascp4", r"-W\s+"),
    ("conan rcon mcrcon knife gpg-preset-passphrase", r"-[pP]\s+(?=\S*\d)"),
    ("kaggle", r"-n\s+key\s[^\n|;&]{0,60}?-v\s+"),
    ("curl", r"(?:--cert|-E|--proxy-cert)[ =][\"']?[^\s:\"']+:"),
    ("net wbinfo ntlm_auth smbcacls smbcquotas winexe", r"(?:-U|-a|--user)[ =]?[\"']?[^\s%\"']+%"),
    ("mysqlsh sftp scp sshfs", r"[\"']?[\w.\-]+:(?=[^\s:@/]+@)(?![^\s@]*\.\w+@)"),
    ("sshpass", r"-p\s*"),
    ("plink pscp psftp pageant putty puttygen", r"-pw[ =]"),
    ("psexec psexec64 pskill pslist psservice psinfo paexec wmiexec winexe", r"[-/]p[ :]"),
    ("redis-cli redis-benchmark valkey-cli keydb-cli", r"(?:-a|--pass)[ =]"),
    ("openssl", r"(?:-k|-K|-passwd|-macopt key:|-macopt hexkey:|-psk|-hmac)\s+"),
    ("openssl", r"-pass(?:in)?\s+pass:"),
    ("openssl", r"-passout\s+pass:"),
    ("ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami", r"-[wW][ ]?(?=\S)"),
    ("ipmitool impitool", r"-P[ =]?"),
    *((_SNMP, rf"-{option}\s+") for option in "AXc"),
    ("anaconda", r"-t[ =]"),
    ("smbclient smbget rpcclient smbmap mount.cifs", r"-U\s*[\"']?[^\s%\"']+%"),
    ("smbclient rpcclient", r"-U\s+[^\s%'\"]+\s+(?![-/\\]|'[/\\]|\"[/\\])"),
    ("lftp", r"(?:-u|--user)\s+[\"']?[^\s,\"']+,"),
    (
        "curl ftp wget http https xh httpie",
        r"(?:-[a-zA-Z]{0,6}u|--user|--proxy-user|-U|-a|--auth)[ =]?\s*[\"']?(?!https?:)(?:[^\s:\"'$-][^\s:\"']*)?:",
    ),
    ("etcdctl influx cypher-shell couchbase-cli nuget", r"(?:--user|-u|-p|-Password)[ =]\s*[\"']?(?:[^\s:\"']*:)?"),
    ("xfreerdp wfreerdp mstsc", r"/p:"),
    ("rdesktop vncviewer winrs evil-winrm crackmapexec netexec", r"[-/]p(?:assword)?[: ]"),
    ("schtasks", r"/r?p\s+"),
    ("signtool", r"/p\s+"),
    ("certutil", r"-p\s+"),
    ("dsadd dsmod", r"-pwd\s+"),
    ("useradd usermod", r"(?:-p|--password)[ =]"),
    ("htpasswd", r"-[a-zA-Z]*b[a-zA-Z]*\s+(?:-\w+\s+)*\S+\s+\S+\s+"),
    ("gpg gpg2", r"--passphrase[ =]"),
    ("databricks", r"--(?:string|bytes)-value[ =]"),
    ("slmgr", r"[/-]ipk\s+"),
    ("sendemail", r"-xp\s+"),
    ("steghide outguess", r"-p\s+"),
    ("rclone", r"(?:pass|password\d?|key|secret_access_key|token)\s+"),
    ("pdftk", r"(?:owner_pw|user_pw|input_pw)\s+(?:\w=)?"),
    ("keytool jarsigner", r"-(?:storepass|keypass|srcstorepass|deststorepass|new)(?::(?!env|file)\w+)?\s+"),
    ("ssh-keygen", r"-[NP]\s+(?=\S)"),
    ("cryptsetup veracrypt", r"(?:-p|--password)[ =]"),
    ("aws", r"--(?:secret-string|master-user-password|auth-token)[ =]"),
    ("az", r"(?:--value|--secrets?)[ =](?:[\w\-]+=)?"),
    ("cqlsh beeline clickhouse-client cockroach", r"-p[ =]"),
    ("snowsql vsql nzsql", r"-w\s+"),
    ("kinit", r"--password[ =]"),
    ("doctl", r"-t[ =]"),
    ("drone", r"--data[ =]"),
    ("lwp-request", r"-C\s+[\"']?[^\s:\"']+:"),
    ("dvc", r"remote\s+modify\s[^\n|;&]{0,100}?\s(?:account_key|sas_token|connection_string|secret_access_key)\s+"),
    ("sqlpackage", r"/[st]p:"),
    ("cvs", r":pserver:[^\s:@]+:(?=[^\s@]+@)"),
    ("newman", r"--env-var\s+[\"']?\w*(?:key|token|password)="),
    ("svn", r"--password[ =]"),
    ("vault", r"(?:kv put|write)\b[^\n|;&]{0,200}?\s[\w\-]*(?<!role_id)="),
)
# Programs, and the text between them and a secret without an option.
_BY_PLACE = (
    ("net", r"\s+user\s+" + _WORD + r"\s+(?=[^\s/*])", r"(?!/)"),
    ("net", _WITHIN + r"\s/u(?:ser)?:\S+\s+", r"(?!/)"),
    ("net", r"\s+use\s+(?:[A-Za-z*]:?\s+)?\\\\\S+\s+(?=[^\s/*])", r"(?!/)"),
    ("wandb huggingface-cli hf vault comet neptune", r"\s+login\s+(?:-\S+\s+(?:https?:\S+\s+)?)*", r"(?=\S{8,})"),
    (
        "reg",
        r"\s+add\b" + _WITHIN + r"\s/v\s+\"?[\w .\-]*(?:passw(?:or)?d|pwd|secret|token|key)\"?\s" + _WITHIN + r"/d\s+",
        "",
    ),
    ("gsutil", r"\s+signurl\b" + _WITHIN + r"\s-p\s+", ""),
    ("poetry composer", r"\s+config\s+(?:--\S+\s+)*http-basic\.\S+\s+\S+\s+", ""),
    ("gh glab", r"\s+(?:secret|variable)\s+set\b" + _WITHIN + r"\s(?:(?:-b|-v)[ =]?|(?:--body|--value)[ =])", ""),
    ("snyk", r"\s+auth\s+", ""),
    ("rabbitmqctl", r"\s+(?:add_user|change_password|authenticate_user)\s+\S+\s+", ""),
    ("conda anaconda", r"\s+token\s+set\s+", ""),
    ("chamber", r"\s+write\s+\S+\s+\S+\s+", ""),
    ("bw", r"\s+(?:unlock|login\s+\S+@\S+)\s+", ""),
    ("travis", r"\s+encrypt\s+(?:-\S+\s+)*", r"(?=\S*\d)"),
    ("iscsiadm", _WITHIN + r"\s(?:-n|--name)[ =]\S*password\s+(?:-v|--value)[ =]", ""),
    ("ngrok", r"\s+(?:config\s+add-authtoken|authtoken)\s+", ""),
    ("infracost doctl heroku", r"\s+auth\s+login\s+", ""),
    ("ansible-vault", r"\s+encrypt_string\s+(?:--\S+(?:\s+[^\s'\"-]\S*)?\s+)*(?=[\"'])", ""),
    ("redis-cli valkey-cli", _WITHIN + r"\sauth\s+(?:[A-Za-z]\w*\s+(?=\S))?", ""),
    ("az", r"\s+(?:sql|postgres|mysql|mariadb|synapse|vm|vmss|acr|ad)\b" + _WITHIN + r"\s-(?-i:p)\s+", r"(?!\w+=)"),
    ("iinit", r"\s+", r"(?=\S*\d)"),
    ("openssl", r"\s+passwd\s+(?:-salt\s+\S+\s+|-\S+\s+)*", r"(?=[^\s)]*\d)"),
    ("mc", r"\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+\s+\S+\s+", ""),
    ("mysqladmin mariadb-admin", _WITHIN + r"\spassword\s+", ""),
    ("consul", r"\s+kv\s+put\s+\S+\s+", ""),
    ("rclone", r"\s+obscure\s+", ""),
    ("expect", r"[^\n]{0,200}?\bsend\s+(?:--\s+)?", ""),
    ("tailscale", _WITHIN + r"\s--auth-?key[ =]", ""),
    ("mkpasswd", r"\s+(?:-\S+\s+(?:[a-z]\S*\s+)?)*", r"(?=\S*\d)(?!-|(?:sha|md5|yescrypt|bcrypt))"),
    (
        "sed",
        _WITHIN + r"\bs([/|#,@])(?:(?!\1)[^\n]){0,60}(?:pass|secret|token|key)(?:(?!\1)[^\n]){0,60}\1",
        r"(?=[^/|#,@]*\d)",
    ),
    ("wpa_passphrase", r"\s+(?:\"[^\"]*\"|\S+)\s+", ""),
    ("isql iusql", r"\s+[A-Za-z]\S*\s+[A-Za-z]\S*\s+", r"(?=\S*\d)(?!-)"),
    ("codecov", _WITHIN + r"\s-t[ =]", ""),
    ("kadmin kadmin.local", _WITHIN + r"\s-(?:w|pw)\s+", ""),
    ("azuresigntool", _WITHIN + r"\s-kvs\s+", ""),
    ("rman", r"\s+(?:target|auxiliary|catalog)\s+[\"']?\w[\w$]*/", r"(?=[^\s/@]+@)"),
    ("sqlplus sqlldr expdp impdp exp imp rman sql connect", r"\s+(?:-\S+\s+)*[\"']?\w[\w$]*/", r"(?=[^\s/@]+@)"),
    ("smbclient", r"\s+[\"']?(?://|\\\\)\S+\s+(?=[^\s-])", ""),
    ("aws", r"\s+ssm\s+put-parameter\b(?=[^\n]*SecureString)" + _WITHIN + r"\s--value[ =]", ""),
    ("nuget dotnet", _WITHIN + r"\s(?:push\b[^\n|;&]{0,200}?\s)?(?:-ApiKey|-k|--api-key|setapikey)\s+", ""),
    ("gcloud", _WITHIN + r"\s--(?:data|set-root-password|password)[ =]", ""),
    ("terraform tofu", _WITHIN + r"\s-var[ =][\"']?\w*(?:password|secret|token|key)=", ""),
    ("subscription-manager", _WITHIN + r"\s--(?:password|activationkey)[ =]", ""),
)
_PIPED = (
    r"(?=(?:[^|\n]{0,20}|[^|\n()]{0,200}\)\s*)\|\s*[^|\n]{0,200}?(?:--password-stdin|--passphrase-fd|--stdin\b|sudo\s+(?:-\w+\s+)*-S|chpasswd|passwd\b"
    r"|login\b|kinit\b|cryptsetup\b|gpg\b|smbpasswd\b|pass\s+insert|password_stdin|secrets?\s+(?:create|set|versions\s+add)))"
)
COMMANDS: tuple[Rule, ...] = (
    *(
        rule(
            programs.replace(" ", "|"),
            rf"\b(?i:{_any(programs)})(?:\.exe)?\b{_WITHIN}\s[\"']?{_apart(option)}",
            _SECRET,
            is_word=True,
        )
        for programs, option in _BY_OPTION
    ),
    *(
        rule(
            programs.replace(" ", "|"),
            rf"(?i)\b(?:{_any(programs)})(?:\.exe)?\b{place}",
            f"{_NO_REFERENCE}{no}{VALUE}",
            is_word=True,
        )
        for programs, place, no in _BY_PLACE
    ),
    rule("login", r"(?<!-mode )(?<!--auth )\blogin\b[^\n|;&]{0,500}?\s-p[ =]?", _SECRET, is_word=True),
    # any program: letters, digits and a sign, as in passwords, after an option of one letter
    rule(
        " -p | -w | -k | -s ",
        r" -\w\s+",
        (
            r"(?=[^\s\"']*\d)(?=[^\s\"']*[a-z])(?:(?=[^\s\"']*[!#^])|(?=[^\s\"']*[A-Z])(?=[^\s\"'.]*@[^\s\"'.]*(?:[\s\"']|\Z)))"
            r"[^\s\"'|;&<>(){}\[\]/$*?=]{8,}(?=[\s\"']|\Z)"
        ),
    ),
    rule(
        "--license|--serial|--activation|-license|/license|/serial",
        r"(?i)(?:--?|/)(?:license|serial|activation)(?:-?(?:key|code|number))?[ =:]+",
        r"(?=\S*\d)(?=\S*[A-Z])[A-Z0-9\-]{14,}(?=[\s\"']|\Z)",
    ),
    rule(".login(", r"\.login\(\s*(?=[\"'][\w.\-]{30,}[\"']\s*\))", VALUE),
    # any program: a single token after `login`
    rule(
        " login | add-authtoken | attach | unseal ",
        r" (?:login|add-authtoken|attach|unseal)\s+(?:--?(?!user|client|tenant)\w[\w\-]*\s+)*",
        r"(?=[A-Za-z_+/=\-]*\d)(?=[\d_+/=\-]*[A-Za-z])[\w+/=\-]{20,}(?=[\s;&|\"')]|\Z)",
    ),
    rule(" user ", r"(?i) user\s+\S+\s+using\s+", _SECRET),
    rule("userid=", r"(?i)\buserid=[\"']?\w[\w$]*/", rf"{_NO_REFERENCE}[^\s@\"']+"),
    rule(
        "echo|printf|print|yes ",
        r"\b(?:echo|printf|print|yes)\s+(?:-\w+\s+|['\"]%s[^'\"]*['\"]\s+)*",
        f"{_SECRET}{_PIPED}",
        is_word=True,
    ),
    rule("/pass:|/password|/rp:|-pass:|-password:", r"(?i)(?<!\S)[-/](?:pass(?:word[do]?)?|rp):", _SECRET),
    # any program: a user by `-u`, then a password by `-p`, which is no port
    rule(
        " -u | --user | --username | --admin-user ",
        r"(?i)\s(?:-u|--(?:admin-)?user(?:name)?)\s+(?!-)\S+\s(?:[^\n|;&]{0,300}?\s)?(?-i:-[pP])\s+",
        rf"(?!\d+(?:[:\s/]|$)|\d+\.\d|[./]|[a-z_]{{1,16}}(?:\s|$)){_NO_REFERENCE}{VALUE}",
    ),
    rule(
        "--proxy-user|--user|--creds|--src-creds|--dest-creds",
        r"--(?:proxy-user|user|(?:src-|dest-)?creds)[ =][\"']?(?!https?:)[^\s:\"'$\d][^\s:\"'$]*:",
        rf"(?!\d+\b){_NO_REFERENCE}{VALUE}",
    ),
    rule("--from-literal", r"--from-literal[ =][\"']?[^\s=\"']+=", _SECRET),
    rule(
        "--secure-environment-variables", r"--secure-environment-variables\s+", r"[^\s|;&]+(?:[ \t]+(?!--)[^\s|;&]+)*"
    ),
    rule(
        "password-command|password_command|password_cmd",
        r"(?i)password[-_](?:command|cmd)[ =][\"']?(?:echo|printf)\s+(?:-\w+\s+)?",
        rf"{_NO_REFERENCE}[^\s\"']+",
    ),
    rule(
        "file=<(|file <(|pass=<(|password=<(",
        r"(?i)(?:file|pass|password)[= ]<\(\s?(?:echo|printf)\s+(?:-\w+\s+)?",
        rf"{_NO_REFERENCE}[^\s()]+(?=\s*\))",
    ),
    rule(
        "convertto-securestring",
        r"(?i)\bConvertTo-SecureString\s+(?:-AsPlainText\s+|-Force\s+)*(?:-String\s+)?",
        _SECRET,
    ),
    rule(
        "login(|.auth(|getconnection(|auth=(|auth = (|authenticate(|credential]::new(|credential(|credentials(|_auth("
        "|pw_set(",
        (
            r"(?i)(?:login|\.auth|getconnection|authenticate|credentials?|credential\]::new|auth(?:\s?=\s?)?|pw_set)\(\s*(?:\w+\s*,\s*|\w+\s?=\s?)?"
            r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')\s*,\s*\(?(?:\w+\s?=\s?)?(?=[\"'])"
        ),
        VALUE,
    ),
    # connections: a host or a source, a user, a password
    rule(
        "connect(|ftp(|ftp_tls(|pdo(|mysqli(|ftp_login(",
        (
            r"(?i)(?:connect|ftp(?:_tls|_login)?|pdo|mysqli)\(\s*[^\s()\"',]{0,60}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|(?<=\w))\s*,"
            r"\s*(?:\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')\s*,\s*(?=[\"'][^\"'\n]*\d)"
        ),
        VALUE,
    ),
    # signatures and encryption: a key is the first or second argument
    rule(
        "hmac.new(|fernet(|jwt.encode(|jwt.decode(|createhmac(|.encrypt(|.decrypt(|jwt.sign(",
        (
            r"(?i)(?:hmac\.new|fernet|jwt\.(?:encode|decode|sign)|createhmac|\.(?:en|de)crypt)\("
            r"(?:[^()\"'\n]{1,100},\s*|[\"'][\w\-]{1,16}[\"'],\s*)?b?(?=[\"'])"
        ),
        rf"(?=[^\n]{{0,200}}\d){VALUE}(?=\s*[,)])",
    ),
    rule(
        "setpassword(|withpassword(|set_password(|setpass(|setsecret(|setapikey(|settoken(|set_secret(|withsecret(|withtoken(|with_password(|set_token(|withapikey(",
        r"(?i)(?:set|with)_?(?:password|pass|secret|token|api_?key)\(\s*(?:[\"'][^\"'\n]{0,100}[\"']\s*,\s*)*(?=[\"'])",
        rf"{VALUE}(?=\s*\))",
    ),
    rule(
        "credential(|basicauth(|pscredential ",
        r"(?i)(?:(?:credential|basicauth)\(|pscredential\s+\(?)\s*(?:[^()\n]{0,200},\s*)?(?=[\"'])",
        rf"{VALUE}(?=\s*\))",
    ),
)
