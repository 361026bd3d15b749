"""Secrets at places of their own: PEM keys, signatures and users of URLs, headers, well-known files."""

from shared.domain.redaction.secrets.rules import Rule, rule
from shared.domain.redaction.secrets.values import VALUE

_IN_ADDRESS = r"[^&\s\"'<>;\\#]+"
_VARIABLE = r"(?!\$[A-Za-z_{(]|%[A-Za-z_]+%|<|\{|\*\*)"
_SCHEMES = (
    r"(?:bearer|basic|token|digest|negotiate|sharedkey|sharedkeylite|apikey|api-key|key|splunk|bot|aws4-hmac-sha256)"
)

CONTEXTS: tuple[Rule, ...] = (
    rule(
        "---- begin|-----begin",
        r"-{4,5} ?BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)? ?-{4,5}",
        r"(?s:.*?)(?:-{4,5} ?END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)",
        whole=True,
    ),
    rule(
        "private-lines|private-mac|private-hash",
        r"(?i)Private-(?:Lines:\s*\d+\s+|MAC:\s*|Hash:\s*)",
        r"(?s:.*?)(?=\s*Private-(?:MAC|Hash)|\Z)|[0-9a-f]+",
    ),
    # signatures of URLs, regardless of the signer; function keys; secrets and tokens in a query
    rule("sig=", r"(?i)(?:\b|(?<=_)|(?<=u0026))sig=", rf"(?!REDACTED\b|\d*\.\d)" rf"{_VARIABLE}{_IN_ADDRESS}"),
    rule("signature=", r"(?i)\bsignature=\\*\"?", r"[0-9a-f]{40,}"),
    rule("response=", r"(?i)\bresponse=\\*\"?", r"[0-9a-f]{32,}"),
    rule(
        "signature=|credential=|security-token=",
        r"(?i)(?:(?<=x-amz-)|(?<=x-goog-)|(?<=[?&])(?=s))(?:signature|credential|security-token)=",
        _IN_ADDRESS,
    ),
    rule("code=", r"(?i)(?<=[?&])code=", rf"{_VARIABLE}[^&\s\"'<>;\\#]{{8,}}"),
    # authorization headers of any scheme; cookies
    rule(
        "authorization",
        rf"(?i)authorization\\*+[\"']?\]?\s*+(?:[:=]|=>|,(?=\s*+\\*+[\"']))\s*+\\*+[\"']?+(?:{_SCHEMES}\s++)?+",
        rf"(?!\[redacted|{_SCHEMES}\b\s*[$<{{])(?!\$|<|\{{|(?:token|header|scheme|is|was|required|expected|missing|failed)\b)[^\"'\n\\`]+",
    ),
    rule(
        "bearer|basic|sharedkey|sharedkeylite",
        r"(?i:\bbearer|\bbasic|\bsharedkey(?:lite)?\s+\w{3,24}:)\s*",
        r"(?<=[\s:])(?![a-z_]{1,40}=\S)(?=[\w.~+/\-]*[0-9A-Z~+/=])[\w.~+/\-]{8,}=*",
        is_word=True,
    ),
    rule("bearer", r"(?i)\bbearer\s*[\"']\s*(?:\+|\.|,|&)\s*(?=[\"'])", VALUE),
    rule("cookie", r"(?i)cookie\\*[\"']?\s*(?::|=>|,)\s*\\*[\"']?(?=[^\s;=\"']{1,100}=)", r"[^\n\"'\\]+"),
    rule("curl", r"\bcurl\b[^\n|;&]{0,500}?\s(?:-b|--cookie)[ =]?(?=[\"']?[^\s\"'=]{1,100}=)", VALUE, is_word=True),
    # webhooks of channels
    rule("hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/", r"[^\s\"'<>\\]+"),
    rule("office.com/webhook", r"office\.com/webhook(?:b2)?/", r"[^\s\"'<>\\]+"),
    rule("discord.com/api/|discordapp.com/api/", r"(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/", r"[^\s\"'<>\\]+"),
    rule("api.telegram.org", r"(?i)api\.telegram\.org/(?:file/)?bot", r"\d{3,}:[\w\-]+"),
    rule("with/key/|zapier.com/hooks/catch/", r"(?:with/key|zapier\.com/hooks/catch)/", r"[^\s\"'<>\\?]+"),
    rule("pagerduty.com/integration/", r"pagerduty\.com/integration/", r"[\w\-]{16,}"),
    rule("/hooks/", r"(?<=\w)/hooks/", r"[a-z0-9]{20,}"),
    # a user's name and password in a URL, or a password alone; in an HTTP URL also a token alone
    rule(
        "://",
        r"(?<=[A-Za-z0-9])://",
        r"(?!\$|\[redacted\]@)[^\s/@:\"'<>]*:(?!\[redacted\]@|\$|%[A-Z_]+%|\*|<|\{\w+\}@)[^\s/\"'<>]+(?=@)",
    ),
    rule(
        "http://|https://",
        r"(?i)https?://",
        r"(?!\[redacted\]@|\$|<)(?:[^\s/@:\"'?#<>]{16,}|(?=[^@\s/]*\d)[^\s/@:\"'?#<>]{8,})(?=@)",
    ),
    rule(
        "://",
        r"(?<=[A-Za-z0-9])://[^\s/@:\"'<>]{1,200}:",
        r"(?!\$|\*|<|\{\w+\}@|\d{1,5}/)[^\s@\"'<>:]{1,200}(?=@[\w.\-]+)",
    ),
    # files of programs: .netrc, .pgpass, Docker's, Ansible's vaults, Kubernetes' secrets
    rule(
        "machine|default",
        r"(?i)\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login\s{1,9}\S{1,200}\s{1,9}(?:account\s{1,9}\S{1,200}\s{1,9})?password\s{1,9}",
        r"\S+(?=\s*(?:$|#|machine\b|default\b|macdef\b|account\b)|(?=['\"`]+\s*(?:$|[|>)\\])))",
        is_word=True,
    ),
    rule('"auth|"identitytoken', r"(?i)\"(?:auth|identitytoken)\\*\"\s*:\s*\\*\"", r"[A-Za-z0-9+/]{12,}=*"),
    rule(
        "dockerconfigjson|dockercfg", r"docker(?:configjson|cfg)\\*[\"']?\s*[:=]\s*\\*[\"']?", r"[A-Za-z0-9+/]{12,}=*"
    ),
    rule("$ansible_vault", r"\$ANSIBLE_VAULT;[\d.]+;AES256(?:;\w+)?\s+", r"[0-9a-f]{16,}(?:\s+[0-9a-f]{16,})*"),
    rule(
        "kind:",
        r"(?i)\bkind:\s*[\"']?secret\b(?s:.{0,2000}?)^(?:data|stringData):[ \t]*\r?\n",
        r"(?:[ \t]+[^\n]*(?:\n|\Z))+",
    ),
    rule(
        "data:",
        r"(?i)(?:^|(?<=string))data:[ \t]*\r?\n",
        r"(?:[ \t]+[^\n]*(?:\n|\Z))+(?=(?s:.{0,2000}?)^kind:\s*[\"']?secret\b)",
    ),
    rule('"kind"', r"\"kind\"\s*:\s*\"Secret\"(?s:.{0,2000}?)\"(?:data|stringData)\"\s*:\s*\{", r"[^{}]+"),
    # protected settings of VM extensions, which Azure never returns
    rule(
        "protectedsettings",
        r"(?i)protectedSettings\\*[\"']?\s*[:=]\s*",
        r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\}?)*+\}?)*+\}?|\[[^\[\]]*+\]?|\\*\"[^\"]*+\"?",
    ),
    # files of daemons: IPsec, Postfix, hashes of passwords; a channel's stream; values that a pipeline masks
    rule('psk "|eap "|xauth "', r"(?i)(?<=: )(?:PSK|EAP|XAUTH) ", r"\"[^\"\n]*\""),
    # a share's line, and commands of an FTP or Redis session
    rule(
        "http://|https://",
        r"(?:^|(?<=[\"'\n]))https?://[^\s\"'|;&<>]{4,200}[ \t]+(?:[A-Za-z][\w.@\\\-]{0,60}|\"[^\"\n]{1,60}\")[ \t]+",
        (
            r"\"[^\"\n]{4,}\"|(?=[^\s\d]*\d)(?=[^\sA-Za-z]*[A-Za-z])(?![\w.\-]*\.[A-Za-z]\w{0,4}[\"']?\s*$)"
            r"(?!v?\d+[.:\-]|\d+\w{1,3}\b)[^\s\"'()\[\]<>/=]{6,}(?=[\"']?\s*(?:$|>|\|))"
        ),
    ),
    rule("/", r"^/[^\s\"'|;&<>:]{2,200}[ \t]+[A-Za-z][\w.@\\\-]{0,60}[ \t]+", r"\"(?=[^\"\n]*\d)[^\"\s]{6,}\"(?=\s*$)"),
    rule(
        "user |auth ",
        r"(?i)(?:^|(?<=;)|(?<=; ))(?:user[ \t]+[\w.@\-]{1,60}|(?-i:AUTH)(?:[ \t]+[\w.@\-]{1,60})?)[ \t]+",
        r"(?=\S*\d)(?=\S*[A-Za-z])(?!\S*[:=/(\[])[^\s\"';]{8,}(?=[\"']?[ \t]*(?:$|;))",
    ),
    rule("]:", r"(?<=[a-z])\]:\d{1,5}\s+[^\s:]{1,100}:", r"\S+"),
    rule(
        "$1$|$5$|$6$|$y$|$2a$|$2b$|$2y$|$apr1$|$argon2|$pbkdf2|$scrypt$",
        r"",
        r"\$(?:1|5|6|y|2[aby]|apr1|argon2\w*|pbkdf2[\w\-]*|scrypt)\$[\w./=,+$\-]{16,}",
    ),
    rule("{ssha|{sha}|{smd5}", r"", r"\{S(?:SHA\d*|HA|MD5)\}[\w+/]{16,}=*"),
    rule("rocommunity |rwcommunity |rocommunity6 |rwcommunity6 ", r"(?i)\br[ow]community6?\s+", r"[^\s\"']+"),
    rule("login=", r"(?i)\blogin=", r"[0-9a-f]{32,}"),
    rule("pwd={|password={", r"(?i)(?:pwd|password)=", r"(?!\{[\w.\[\]()]*\}|\{\s*[\"'])\{[^{}\n]{1,200}\}"),
    rule(
        "secrets:|passwords:|tokens:|apikeys:|api_keys:",
        r"(?i)(?:secrets|passwords|tokens|api_?keys):[ \t]*\r?\n(?=[ \t]*-[ \t]+(?=\S*\d)[^\s:/]{6,}[ \t]*$)",
        r"(?:[ \t]*-[ \t]+[^\s:]+[ \t]*(?:\n|\Z))+",
    ),
    rule(
        "secrets:|passwords:|tokens:",
        (
            r"(?i)(?:secrets|passwords|tokens):[ \t]*\r?\n(?:[ \t]*(?:-[ \t]*)?\w+:[ \t]*[^\n]*\n){0,8}?"
            r"[ \t]*(?:-[ \t]*)?value:[ \t]+"
        ),
        rf"(?=\S*\d){VALUE}",
    ),
    rule(
        "chpasswd:",
        r"(?i)chpasswd:[ \t]*\r?\n(?s:.{0,200}?)list:[ \t]*\|?[ \t]*\r?\n(?=[ \t]+-?[ \t]*[\w.\-]+:)",
        r"(?:[ \t]+-?[ \t]*[\w.\-]+:\S+[ \t]*(?:\n|\Z))+",
    ),
    # a header of any name with one random value; values for signing in or encrypting
    rule(
        " -h| --header",
        (
            r"(?i)\s(?:-H|--header)[ =]?[\"'](?![\w\-]*(?:id|trace\w*|md5|sha\d*|digest"
            r"|etag|match|range|agent|type|origin|host)"
            r"\s*:)"
            r"[\w\-]{2,60}:\s*"
        ),
        r"(?=[A-Za-z_\-+/=]*\d)(?=[\d_\-+/=]*[A-Za-z])[\w+/=\-]{20,}(?=[\"'])",
    ),
    rule(
        "user=|user =|user:",
        r"^[ \t]*(?:proxy-)?user[ \t]*[=:][ \t]*\"?[\w.@\\\-]{1,60}:",
        r"(?=\S*\d)[^\s\"]{6,}(?=\"?\s*$)",
    ),
    rule("proxy=|proxy =|proxy:", r"(?i)proxy[ \t]*[=:][ \t]*[\"']?[\w.\-]{1,60}:", r"[^\s@/\"']{3,}(?=@)"),
    rule("static:", r"\bstatic:[\w.@\-]{1,60}:", r"\S{4,}"),
    rule(
        "credentials |credential |credentials:|creds |creds:|creds=",
        r"(?i)\bcred(?:ential)?s?\s*[:=]?\s+[\w.@\-]{1,60}\s*[/:]\s*",
        r"(?=\S*\d)[^\s/:\"']{6,}",
    ),
    rule("user ", r"(?-i:^[ \t]*USER[ \t]+\S+\r?\n[ \t]*PASS[ \t]+)", r"\S{4,}"),
    # private parts of keys, in XML, JSON or base64
    rule(
        "<rsakeyvalue",
        r"(?i)<RSAKeyValue>(?s:.{0,1200}?)(?=<(?:P|Q|DP|DQ|InverseQ|D)>)",
        r"(?s:.*?)(?=</RSAKeyValue|\Z)",
    ),
    rule('"kty"', r"\"kty\"(?s:.{0,2000}?)\"(?:k|d|p|q|dp|dq|qi)\"\s*:\s*", r"\"[\w\-]{16,}\""),
    rule(
        "ls0tls1crudjti",
        r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi(?!BDRVJU|BQVUJMSUM|BUUlVTVEVE|BUQ0VSV)",
        r"[A-Za-z0-9+/]{20,}=*",
    ),
    rule("eyj", r"(?<![\w+/.\-])eyJ", r"[\w+/\-]{80,}={0,2}(?![\w.])", whole=True),  # JSON in base64
    rule('"data"', r"\"data\"\s*:\s*", r"\"MI[A-Za-z0-9+/]{60,}=*\"(?=[^{}]{0,300}\"(?:password|thumbprint)\")"),
    rule(
        "pfx|p12|pkcs12",
        r"(?i)\b\w{0,20}(?:pfx|p12|pkcs12)\w{0,10}\\*[\"']?\s*[:=]\s*\\*[\"']?",
        r"MI[A-Za-z0-9+/]{60,}=*",
    ),
    rule(
        "secrets:|credentials:|passwords:",
        r"(?i)(?:secrets|credentials|passwords):[ \t]*\r?\n(?=[ \t]+[\w.\-]+:[ \t]+(?=[^\s\d]*\d)[^\s/]{6,}[ \t]*$)",
        r"(?:[ \t]+[\w.\-]+:[ \t]+\S+[ \t]*(?:\n|\Z))+",
    ),
    rule("createuser", r"(?i)\bcreateUser\s+\S+\s+(?:MD5|SHA[\w\-]*)\s+", VALUE, is_word=True),
    rule("aes |des ", r"(?:(?<=\" )|(?<=\w ))(?:AES|DES)\s+", r"(?=[^\s\"]*\d)[^\s\"]{6,}(?=\s*$)"),
    rule("/t/", r"(?<=[\w.])/t/", r"(?:[a-z]{2}-)?[\w\-]{30,}(?=/)"),
    rule("rtmp://|rtmps://", r"(?i)rtmps?://[^\s/]+/[^\s/]+/", r"[^\s/\"'<>]{8,}"),
    rule("::add-mask::", r"(?i)::add-mask::", r"\S+"),
    rule("issecret=true", r"(?i)issecret=true[^\]\n]{0,100}\]", r"\S+"),
    # statements of SQL
    rule(
        "identified",
        r"(?i)\bidentified\s+by(?:\s+password)?\s+(?=['\"N]|(?=\S*\d)[A-Za-z])(?:N(?='))?",
        VALUE,
        is_word=True,
    ),
    rule("password", r"(?i)(?:(?<=with )|(?<=encrypted ))password\s+(?=['\"N])N?", VALUE, is_word=True),
    rule("password for", r"(?i)(?<=set )password\s+for\s+\S+\s*=\s*(?:password\()?", VALUE),
    rule("jdbc:oracle", r"(?i)\bjdbc:oracle:\w+:[^\s/@]{1,100}/", r"[^\s@/]+(?=@)"),
    rule(
        "aes_encrypt(|aes_decrypt(|pgp_sym_encrypt(|pgp_sym_decrypt(",
        r"(?i)\b(?:aes_(?:en|de)crypt|pgp_sym_(?:en|de)crypt)\([^,()]{1,200},\s*",
        VALUE,
    ),
    # public SSH keys, which aren't secret but show who may log in
    rule(
        "ssh-|ecdsa-sha2",
        r"(?<![A-Za-z0-9])(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3})(?:@openssh\.com)?(?:\s+|\\*[\"'])",
        r"AAAA[A-Za-z0-9+/=]+",
        whole=True,
    ),
)
