"""Masks in a key line what differs between tasks that failed for one cause: numbers, paths, ids, times, hosts.

One pass from left to right over at most MAX_KEY characters. Names on which the cause depends stay as they are: missing
modules, commands and libraries, codes of errors, exceptions. Every repetition has a bound, so the work is linear.
"""

import re
from collections.abc import Callable, Mapping

MAX_KEY = 1200
"""Characters of a key line that count."""
MAX_SIGNATURE = 300
NUMBER, PATH, HOST, ADDRESS = "<n>", "<path>", "<host>", "<url>"

_CODE_FILES = frozenset(
    (
        "bash",
        "bat",
        "c",
        "cc",
        "cl",
        "cmd",
        "cpp",
        "cs",
        "cu",
        "cuh",
        "cxx",
        "dll",
        "dylib",
        "dlr",
        "ex",
        "exe",
        "exs",
        "f",
        "f03",
        "f90",
        "for",
        "fs",
        "go",
        "h",
        "hpp",
        "hs",
        "jar",
        "java",
        "jl",
        "js",
        "kt",
        "lua",
        "m",
        "mjs",
        "ml",
        "php",
        "pl",
        "pm",
        "ps1",
        "psm1",
        "py",
        "pyd",
        "pyx",
        "r",
        "rb",
        "rs",
        "scala",
        "sh",
        "so",
        "swift",
        "ts",
        "tsx",
        "v",
        "vb",
        "whl",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "env",
    )
)
_DATA_FILES = (
    "csv|tsv|txt|json|jsonl|xml|bam|sam|cram|bai|fq|fastq|fa|fasta|vcf|bcf|bed|gff|gtf|exr|png|jpe?g|tiff?|gif|bmp|svg"
    "|mp4|mov|mkv|avi|wav|mp3|webm|blend|max|ma|mb|hip|usd[acz]?|obj|fbx|abc|ass|vdb|nc|h5|hdf5|dat|data|bin|raw|log|out"
    "|err|in|inp|parquet|avro|orc|npy|npz|pt|pth|pkl|ckpt|onnx|zip|gz|tgz|bz2|xz|zst|tar|7z|mat|rds|RData|dta|sav|xlsx?"
    "|las|laz|shp|geojson|msh|vtk|vtu|stl|cas|odb|pdb|gro|xtc|trr|tpr|sdf|mol2|pdf|html?|md|tmp|lock|pid|sock|db|sqlite"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_TIME = (
    rf"\d{{4}}[-/.]\d\d?[-/.]\d\d?(?:[T_ ]\d\d:?\d\d(?::?\d\d(?:[.,]\d{{1,9}})?)?)?(?: ?(?:Z|UTC|GMT"
    rf"|[+-]\d\d:?\d\d))?"
    rf"|(?:{_DAY},? )?(?:{_MONTH} {{1,2}}\d\d?"
    rf"|\d\d?[ -]{_MONTH})(?:,?[ -]\d{{4}})?(?: \d\d?:\d\d(?::\d\d)?)?(?: [A-Z]{{3,4}})?(?: \d{{4}})?"
    r"|\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?"
)
_KEPT = (
    # what is missing, by name
    r"(?:[Nn]o module named|cannot import name|[Cc]annot find (?:module|package)|no package called|[Pp]ackage"
    r"|locate package"
    r"|requirement|distribution found for|undefined symbol:|undefined reference to|[Ff]eature:?"
    r"|[Cc]ould not find function"
    r"|Can't locate|[Uu]nknown encoder|provided by|plugin|relation"
    r"|Libref)\s{1,9}['\"]?@?[A-Za-z][\w.+-]{0,100}(?:/[A-Za-z][\w.+-]{0,100})?(?:==[\w.]{1,30})?"
    r"|[A-Za-z][\w.+-]{0,100}(?=: command not found)"
    r"|(?<![\w/\\])lib[\w+-]{1,80}(?:\.\d{1,4}){0,3}\.so(?:\.\d{1,6}){0,4}|(?<![\w/\\])[\w+-]{1,80}\.(?:dll|DLL"
    r"|pyd|dylib)\b"
    r"|\b(?:GLIBC|GLIBCXX|CXXABI|OPENSSL)_\d[\d.]{0,10}\d"
    # codes
    r"|\b(?:[Ee]rrno|ERRNO|WinError|[Ee]xit|EXIT|[Ee]xited|[Rr]eturn|[Ss]tatus|[Cc]ode|CODE|exitcode|errorcode"
    r"|ierr|rc|[Ss]ignal"
    r"|SIGNAL|Xid|severe|[Ee]rror|ERROR|ERR|RESPONSE|HTTP(?:/\d(?:\.\d)?)?|curl:)(?: (?:code|status|value|Code"
    r"|Error|error))?"
    r"[ :=#(\[]{0,3}-?(?:10737\d{5}|32212\d{5}|\d{1,5})(?!\.?\d|\w)"
    r"|(?<![\w=./-])[45]\d\d(?= \(?[A-Z][a-z])|(?<=code )[A-Z]{1,8}\d{1,5}\b|\br\(\d{1,4}\)"
    r"|\b0x(?:[Cc]0|80)(?:0|13)[0-9A-Fa-f]{5}\b|\b0x[Cc]000[0-9A-Fa-f]{4}\b"
    r"|\b(?:error|warning|fatal error)[ \[:]{1,2}[A-Z]{1,8}\d{2,5}\b|\A[A-Z]{2,8}-\d{3,6}(?=:)|(?<=\()\d{5}(?=\):)"
    # exceptions
    r"|\b(?:[A-Za-z_]\w{0,60}(?:\.|::)){0,10}\w{0,80}?(?:Error|Exception)\d{0,2}\b"
    # words with digits
    r"|\b(?:u?int|float|bfloat|complex|utf-?|UTF-?|[Uu][Tt][Ff]-?|sha-?|SHA-?|x86_|amd|aarch|arm|win|base)(?:8|16"
    r"|32|64|128|256|512)\b"
    r"|\b(?:md5|h264|h265|x264|x265|hevc|av1|mp3|mp4|ipv[46]|IPv[46]|log4j|sqlite3|python[23]|lang3|libc6|s3|k8s"
    r"|i18n|std2|cap2"
    r"|H264|H265|SHA1|sha1|MD5|TLSv1|c\+\+\d\d|2[dD]|3[dD]|[1-3]d|http2|h5py|cp3\d{1,2}|py3|boto3|urllib3"
    r"|psycopg2|jinja2"
    r"|bz2|cv2|hdf5|HDF5|netcdf4|zlib1|f2py|lz4|gen[12]|A100|H100|H200|V100|T4|A10|K80)\b"
)
_WINDOWS_PART = r"[^\s'\"<>|?*:\\/]{1,200}"
_MASKED = re.compile(
    r"(?P<redacted>\[redacted\]|\*{5,}|•{3,}|█{3,})"
    r"|(?P<url>\b[A-Za-z][A-Za-z\d+.-]{1,15}://[^\s'\"<>\])}|]{1,1200})"
    r"|(?P<uuid>\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b)"
    r"|(?P<mail>\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
    r"|(?P<quoted>(?P<quote>['\"])(?P<inner>(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}[\\/])[^'\"\n]{0,1000})(?P=quote))"
    rf"|(?P<kept>{_KEPT})"
    rf"|(?P<time>(?<![\w.])(?:{_TIME})(?!\w))"
    rf"|(?P<path>\b[A-Za-z]:[\\/](?:{_WINDOWS_PART}(?: {_WINDOWS_PART}){{0,3}}[\\/]){{0,30}}(?:[^\s'\"<>"
    rf"|?:\\/]{{1,200}})?"
    rf"|\\\\(?:{_WINDOWS_PART}\\){{1,20}}(?:{_WINDOWS_PART})?"
    r"|(?<![\w.)\]])(?:~|\.{1,2})?/[^\s'\"<>|;()\[\]{}:=,]{1,1000}(?:=[^\s'\"<>|;()\[\]{},]{0,300})?)"
    r"|(?P<host>(?<![\w.@-])(?:[A-Za-z\d][A-Za-z\d-]{0,62}\.){1,8}(?:com|net|org|io|edu|gov|local|internal|lan"
    r"|localdomain|cloud"
    r"|azure|cluster|svc|intern|corp|home|de|uk|fr|eu|ch|nl|cn|jp)\b(?![\w(]|\.\w)(?::\d{1,5})?)"
    rf"|(?P<file>(?<![\w.-])[\w+@=-][\w.+@=-]{{0,200}}\.(?:{_DATA_FILES})\b(?!\.\w))"
    r"|(?P<relative>(?<![\w.-])[\w.+@-]{1,200}(?:[/\\][\w.+@=*-]{1,200}){1,30})"
    r"|(?P<named>\b(?:[Hh]ost(?:name)?|HOST|user|resolve host:?|Unknown host:?|lookup|getaddrinfo"
    r"|uid)[=: ]{1,2}['\"]?(?=[\w.-]{0,62}[\d.=])[\w.-]{1,62}"
    r"|\b(?:user|resolve host:|host|hostname)(?:[=:] ?| (?=['\"]))['\"]?[\w.-]{1,62})"
    r"|(?P<temporary>\btmp[._]?\w{6,12}\b)"
    r"|(?P<address>\b(?:[0-9A-Fa-f]{1,4}:){3,7}(?::?[0-9A-Fa-f]{1,4}){1,4}\b)"
    r"|(?P<number>(?<![\w.])[-+]?\d{1,40}(?:[.,]\d{1,40}){0,6}(?:[eE][-+]?\d{1,4})?"
    r"(?: ?(?:[KMGTPkmgtp]i?[Bb](?:/s)?|bytes?|B|%|ms|us|ns|µs|s|secs?|seconds?|min|minutes?|h|hours?|days?|GHz"
    r"|MHz|kbits/s))?(?!\w))"
    r"|(?P<word>[A-Za-z\d]{1,200}(?:[_-]{1,3}[A-Za-z\d]{1,200}){0,40})"
)
_REPEATED = re.compile(rf"(?:{NUMBER}[\s,.:;\u00d7x/*_+|=-]{{0,3}}){{1,200}}{NUMBER}")
_PLURAL = re.compile(rf"({NUMBER} [a-z]{{2,30}}?)s\b")
_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "`": "'", "\u00b4": "'", "\u201c": '"', "\u201d": '"', "«": '"', "»": '"'}
)
_SPACES = re.compile(r"\s{1,2000}")
_HEX = re.compile(r"[0-9A-Fa-f]{8,200}")
_WORD = re.compile(r"[A-Za-z\d]{1,200}(?:[_-]{1,3}[A-Za-z\d]{1,200}){0,40}")
_PARTS = re.compile(r"[_-]{1,3}")
_NO_VOWEL = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,200}")


def masked(text: str) -> str:
    """Returns a key line with masks for values."""
    text = _SPACES.sub(" ", text[:MAX_KEY].translate(_QUOTES)).strip()
    return _REPEATED.sub(NUMBER, _MASKED.sub(_mask, text))[:MAX_SIGNATURE].rstrip()


def signature_of(masks: str) -> str:
    """Returns a masked text that is equal for lines that differ in nothing but values: `1 file` as `2 files`."""
    return _PLURAL.sub(r"\1", masks)


def readable(signature: str) -> str:
    """Returns a masked text as people would read it, with `…` for each mask."""
    for mask in (f"{PATH}/", PATH, NUMBER, HOST, ADDRESS):
        signature = signature.replace(mask, "…/" if mask.endswith("/") else "…")
    return re.sub(r"…(?:[.,]?…)+", "…", signature)


def _masked_path(path: str) -> str:
    """Returns a mask with what of a path names a cause: programs, libraries, settings, and the kind of a data file."""
    path, ending = _without_ending(path)
    name = re.split(r"[\\/]", path)[-1]
    stem, dot, extension = name.rpartition(".")
    if ".so." in name or extension in {"so", "dll"}:
        return f"{PATH}/{name}{ending}"
    if not dot or not stem.strip("."):
        return PATH + ending
    if extension.lower() in _CODE_FILES:
        return f"{PATH}/{_masked_words(stem)}.{extension}{ending}"
    return (f"{PATH}.{extension.lower()}" if extension.isalpha() else PATH) + ending


def _masked_relative(path: str) -> str:
    """Returns a mask of a relative path; words that a slash joins stay, as in `I/O`, and so do names of classes."""
    core, _ = _without_ending(path)
    name = re.split(r"[\\/]", core)[-1]
    return _masked_path(path) if "." in name.strip(".") or name == "*" else _masked_words(path)


def _without_ending(path: str) -> tuple[str, str]:
    core = path.rstrip(".,;:!?-…*")
    return core, path[len(core) :].replace("*", "")


def _masked_words(text: str) -> str:
    return _WORD.sub(lambda word: _masked_word(word[0]), text)


def _masked_word(word: str) -> str:
    """Returns a mask for a word with digits, or with a part that people don't write: `node-7`, `pod-xkzbw`."""
    if any(character.isdigit() for character in word):
        return NUMBER
    parts = _PARTS.split(word)
    if len(parts) > 1 and any(_NO_VOWEL.fullmatch(part) for part in parts):
        return NUMBER
    return NUMBER if any(_HEX.fullmatch(part) for part in parts) else word


def _mask(found: re.Match[str]) -> str:
    if found["quoted"]:
        return f"{found['quote']}{_masked_path(found['inner'])}{found['quote']}"
    mask = _MASKS.get(found.lastgroup or "")
    return mask(found[0]) if mask else NUMBER


_MASKS: Mapping[str, Callable[[str], str]] = {
    "kept": str,
    "url": lambda _: ADDRESS,
    "mail": lambda _: ADDRESS,
    "path": _masked_path,
    "file": lambda text: f"{PATH}.{text.rpartition('.')[2].lower()}",
    "relative": _masked_relative,
    "host": lambda _: HOST,
    "named": lambda text: re.sub(r"[\w.-]{1,100}\Z", HOST, text),
    "word": _masked_word,
}
