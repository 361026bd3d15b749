"""Takes secrets out of text that came from outside before it is stored, shown or logged.

It knows what secrets of Azure look like, what people call theirs, and how well-known programs are given them. What has
no such sign can't be told from other text.
"""

import re

MARK = "[redacted]"

# What people call a secret. `key` says so only as a word of its own or behind one of these: `monkey` is no key,
# `API_KEY` is.
_START = r"(?<![A-Za-z0-9])"
_NAME = (
    r"(?:(?i:password|passwd|passphrase|passcode|pwd|secret|token|client[_\-]?assertion)"
    r"|(?i:account|access|shared|api|app|client|storage|subscription|auth|master|private|primary|secondary"
    r"|secret|encryption|decryption|signing|hmac|session|service|admin|deploy|license)"
    r"(?i:[_\-. ]?key)"
    rf"|(?:{_START}|(?<=[a-z0-9])(?=K))(?i:key))"
)
# Names that say so only before `=`, in quotes before `:`, or as arguments. The short ones are words of their own, or
# stand behind what a password is often for: `DB_PASS` and `DBPASS` are one, `BYPASS`, `COMPASS` and `PATH` aren't.
_OWNERS = (
    r"(?:db|sql|mysql|pg|my|user|admin|root|login|auth|app|api|svc|service|ftp|smtp|mail|ldap|redis|mongo|mq|vault|proxy"
    r"|key|store|cert|pfx|zip|sudo|ssh){0,2}"
)
_SHORT_NAME = rf"(?i:{_START}(?:{_OWNERS}pass|(?:storage|account|container|blob)?sas|pat)|credentials?)"
_SCHEME = r"(?:login|none|basic|key|oauth2?|ntlm|kerberos)(?![\w.\-])"  # of `--auth`, which is no secret
# A quote that stands where a value may end, for it closes what is around the value: `sh -c 'run --token abc' && …`
_CLOSES = r"""(?=["'\\]{0,60}(?:[\s,;&|)}\]<>]|\Z))"""
_DOUBLE = r""""(?:(?s:\\.)|[^"\\])*+"?"""  # to the end where it is open
_JOINT = r"""'(?:"'"|\\')'"""  # a single quote within single quotes of a shell
_SINGLE = rf"""'(?:{_JOINT}|\\(?={_JOINT})|(?s:\\.)|[^'\\])*+'?"""
_PLAIN = (  # a comma ends it only where a list, a JSON object or a sentence goes on behind it
    r"""(?:\\.|[^\s;,&"'<>\\]|,(?!\s|\Z|\\*["'}\])]|[\w.\-]{1,100}\s{0,9}[=:]))++"""
)


def _quoted_within(name: str) -> str:
    """What stands in quotes of a shell, or of JSON, within quotes: the same signs open and close it."""
    return (
        rf"""(?P<{name}_s>'["'\\]{{1,60}}')(?!["'\\])(?s:.{{0,4000}}?)(?<!["'\\])(?P={name}_s)(?!["\\])"""
        rf"""|(?P<{name}_e>\\+["'])(?s:.*?)(?:(?<!\\)(?P={name}_e)|\Z)"""
    )


_VALUE = (  # pieces that stand together, as a shell joins them
    rf"(?:{re.escape(MARK)}|{_quoted_within('first')}|{_DOUBLE}|{_SINGLE}|{_PLAIN})"
    rf"""(?:(?!["'\\]{_CLOSES})(?:{_quoted_within("next")}|{_DOUBLE}|{_SINGLE})|(?![)}}\]|]){_PLAIN})*"""
)
_LOGIN = (  # programs that take a password behind -p or -P, and those that open archives with one
    r"\b(?:az|docker|podman|nerdctl|buildah|skopeo|helm|oras)\b[^\n|;&]{0,200}?\blogin\b"
    r"|\b(?:sqlcmd|bcp|7z[ar]?|unzip|zip)\b"
)
_SET = (  # setx NAME value, setenv NAME value, set -x NAME value (fish), aws configure set name value
    r"\b(?:setx|setenv|set\s+-[a-z]*x[a-z]*|configure\s+set|user-secrets\s+set)\s+"
)
_CURL = r"""(\b(?:curl|wget)\b[^\n|;&]{0,500}?\s(?:-u|--user|--proxy-user)[ =]?\s*["']?[^\s:"']+:)"""
_PATTERNS = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
        MARK,
    ),
    # the signature of a shared access signature, in an address or in one that is part of another; those of others
    (re.compile(r"(?i)((?:\b|(?<=%26)|(?<=%3f))sig(?:=|%3d))[^&\s\"'<>;]+"), rf"\1{MARK}"),
    (
        re.compile(
            r"(?i)((?:\bx-(?:amz|goog)-(?:signature|credential|security-token)|[?&]signature)(?:=|%3d))[^&\s\"'<>;]+"
        ),
        rf"\1{MARK}",
    ),
    # NAME=value in an address; cookies; what stands in an element of XML that is called a secret
    (re.compile(rf"({_NAME}%3[dD])[^&\s\"'<>;]+"), rf"\1{MARK}"),
    (re.compile(r"(?i)(\bcookie\\*[\"']?\s*:\s*\\*[\"']?)(?=[^\s;=\"']{1,100}=)[^\n\"'\\]+"), rf"\1{MARK}"),
    (
        re.compile(rf"(\bcurl\b[^\n|;&]{{0,500}}?\s(?:-b|--cookie)[ =]?)(?=[\"']?[^\s\"'=]{{1,100}}=){_VALUE}"),
        rf"\1{MARK}",
    ),
    (re.compile(rf"(<[\w.:\-]{{0,64}}{_NAME}[\w.\-]{{0,64}}>)(?:[^<]+(?=</)|\s*[^<\s]+\s*\Z)"), rf"\1{MARK}"),
    # name=NAME value=value, as settings of an environment are written in XML, JSON and YAML
    (
        re.compile(
            rf"((?i:\b(?:key|name))[\"']?\s*[=:]\s*[\"']?[\w.\-]{{0,64}}{_NAME}[\w.\-]{{0,64}}[\"']?[\s,;]{{1,20}}"
            rf"[\"']?(?i:value)[\"']?\s*[=:]\s*){_VALUE}"
        ),
        rf"\1{MARK}",
    ),
    # arguments in a list; openssl's way; what Docker keeps of a login; who may post to a channel
    (re.compile(rf"((?<![\w\-])--?[\w\-]*?{_NAME}\\*[\"']\s*,\s*)(?!\\*[\"']-){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"(?i)(\s-pass(?:in|out)?\s+pass:){_VALUE}"), rf"\1{MARK}"),
    (re.compile(r"(\"auth\\*\"\s*:\s*\\*\")[A-Za-z0-9+/]{12,}=*"), rf"\1{MARK}"),
    (
        re.compile(
            r"(https://(?:hooks\.slack\.com/(?:services|workflows)"
            r"|[\w.\-]{1,100}\.webhook\.office\.com/webhookb2)/)[^\s\"'<>]+"
        ),
        rf"\1{MARK}",
    ),
    # a function's key in an address; a header that says who calls, whatever the scheme
    (re.compile(r"(?i)((?:[?&]|%3f|%26)code(?:=|%3d))[^&\s\"'<>;]+"), rf"\1{MARK}"),
    (
        re.compile(
            r"(?i)(\b(?:proxy-)?authorization\\*+[\"']?+\s*+[:=]\s*+\\*+[\"']?+(?:(?:bearer|basic)\s++)?+)(?!\[)[^\"'\n\\]+"
        ),
        rf"\1{MARK}",
    ),
    # PowerShell's plain text that becomes a secure string
    (
        re.compile(rf"(?i)(\bConvertTo-SecureString\s+(?:-AsPlainText\s+|-Force\s+)*(?:-String\s+)?)(?!-){_VALUE}"),
        rf"\1{MARK}",
    ),
    # NAME=value, NAME: value, "name": "value"; --name value, -Name value; `rotate-key:job-1` is a schedule's job
    (
        re.compile(rf"({_NAME}(?:\\*[\"'])?\s*(?::=|=>|[=:])\s*)(?!(?<=:)job-\d{{1,10}}(?![\w\-])){_VALUE}"),
        rf"\1{MARK}",
    ),
    (re.compile(rf"({_SHORT_NAME}(?:\s*=\s*|\\*[\"']\s*:\s*)){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"((?<![\w\-])--?[\w\-]*?{_NAME}\s+)(?!-){_VALUE}"), rf"\1{MARK}"),
    (
        re.compile(
            r"((?<![\w\-])--?(?:(?:[a-z]+-)*(?i:"
            rf"{_OWNERS}pass|pw|pat|sas|credentials?)|(?<=--)auth)(?:\s+|=))(?!-|{_SCHEME}){_VALUE}"
        ),
        rf"\1{MARK}",
    ),
    (re.compile(rf"({_SET}\S{{0,100}}?{_NAME}\S{{0,100}}\s+){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"({_SET}\S{{0,100}}?{_SHORT_NAME}\s+){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"((?:{_LOGIN})[^\n|;&]{{0,500}}?\s-[pP][ =]?){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"(?i)(\bnet\s+use\b[^\n|;&]{{0,500}}?\s/user:\S+\s+){_VALUE}"), rf"\1{MARK}"),
    # mysql -psecret, sshpass -p secret, redis-cli -a secret, cmdkey /pass:secret, curl -u user:secret
    (re.compile(rf"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{{0,500}}?\s-p){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"(\bsshpass\s+-p\s*){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"(\bredis-(?:cli|benchmark)\b[^\n|;&]{{0,500}}?\s-a\s+){_VALUE}"), rf"\1{MARK}"),
    (re.compile(rf"(?i)((?<!\S)/pass:){_VALUE}"), rf"\1{MARK}"),
    # a line of .netrc
    (
        re.compile(r"(\bmachine\s{1,9}\S{1,200}\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9})\S+"),
        rf"\1{MARK}",
    ),
    (re.compile(rf"{_CURL}[^\s\"']+"), rf"\1{MARK}"),
    # a token behind its scheme, which some sign tells from a word
    (re.compile(r"\b((?i:bearer|basic))\s+(?=[\w.~+/\-]+[0-9A-Z~+/=])[\w.~+/\-]{8,}=*"), rf"\1 {MARK}"),
    # a user's name and password in an address, or a password alone; in one of the web also a token alone
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]{0,30}://)[^\s/@:\"']*:[^\s/\"']+@"), rf"\1{MARK}@"),
    (re.compile(r"(?i)(\bhttps?://)(?!\[redacted\]@)[^\s/@:\"'?#]+@"), rf"\1{MARK}@"),
    # a JSON web token; tokens of well-known services; an account key: 64 bytes in base64
    (re.compile(r"\beyJ[\w\-]{8,4096}+\.[\w\-]{8,}+\.[\w\-]*"), MARK),
    (re.compile(r"\b(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"), MARK),
    (
        re.compile(
            r"(?<![\w\-])(?:(?:glpat-|hf_|sk-(?:proj-|ant-)?|xox[abeps][\-.]|dckr_pat_)[A-Za-z0-9_\-]{20,}"
            r"|xapp-\d-[A-Za-z0-9\-]{20,}|pypi-AgE[\w\-]{16,}|hvs\.[\w\-]{24,}|SG\.[\w\-]{16,}\.[\w\-]{16,}"
            r"|(?:npm_[A-Za-z0-9]{36}|dop_v1_[0-9a-f]{64}|[rs]k_live_[A-Za-z0-9]{20,99}|AIza[\w\-]{35}|dapi[0-9a-f]{32}(?:-\d)?)"
            r"(?![\w\-]))"
        ),
        MARK,
    ),
    # AWS's key ids; keys of SSH, which aren't secret and tell who may log in
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MARK),
    (re.compile(r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3})(?:\s+|\\*[\"'])AAAA[A-Za-z0-9+/=]+"), MARK),
    (re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"), MARK),
)
_WORD = re.compile(r"[\w.\-:+]*")
_TOKEN = re.compile(
    r"eyJ|gh[opsur]_|github_pat_|glpat-|hf_|(?<!\w)sk-|xox[abeps][\-.]|xapp-|npm_|pypi-|dckr_pat_|dop_v1_|[rs]k_live_"
    r"|hvs\.|SG\.|AIza|dapi|AKIA|ASIA"
)  # the begin of those above
_SHORTEST_TOKEN = 20
_NAMED = re.compile(r"[^\W\d_]:")


def is_harmless_word(text: str) -> bool:
    """Whether it is one word, such as an id or a time, that `redacted` would leave as it is, only more slowly."""
    if not _WORD.fullmatch(text) or (":" in text and _NAMED.search(text)):
        return False
    return len(text) < _SHORTEST_TOKEN or not _TOKEN.search(text)


def redacted(text: str) -> str:
    """The text without what looks like a secret; the names that led to it stay."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
