"""Nouns that need no entry in docs/glossary.md, by where a reader can look them up.

A class may end in one of them. The singular stands for the plural, too.
"""

AZURE_BATCH = """
    account affinity application attempt constraint container core destination disk execution exit extension failure
    file filter image info job log manager mount node package pool preparation priority quota recurrence registry
    requirement resource retry run schedule size sku slot specification state task timeline usage user
"""
AZURE_FUNCTIONS = """
    app binding blueprint context endpoint function handler host invoker listener receipt request response route runtime
    timer trigger webhook worker
"""
STORAGE = """
    blob checksum chunk entity etag index key lease message operation page partition queue row store table
    transaction
"""
TELEMETRY = """
    aggregate attribute bucket bundle counter duration exporter family gauge histogram ingestion instrument label
    measurement meter metric monitoring percentile plugin point precision quantile range record rollup sampler
    series summary target telemetry total window
"""
FINOPS_AND_SRE = "alert baseline budget charge condition cost fault incident interruption limit notification price rate"
PARQUET = "column dictionary"
HTTP = """
    body caller client connection cookie credential grant header http identity link method parameter path policy
    principal query reference role server statement status transport url
"""
PROGRAMMING = """
    address argument buffer builder cache change clock code configuration converter count data date decoder dependency
    detail emulator encoder entry error estimate evaluation event exception explanation expression fact factory field
    form format group history id interval item iterator kind level line list listing mask match metadata name nullable
    number option order output parser part pattern phase position problem program progress property protocol reader
    reason replacement result retention runner scheduler search section selector service set setting slice source text
    time timeout timestamp token transition tree tuple type value variable vector version writer
"""
STANDARD_NOUNS = frozenset(
    f"{AZURE_BATCH} {AZURE_FUNCTIONS} {STORAGE} {TELEMETRY} {FINOPS_AND_SRE} {PARQUET} {HTTP} {PROGRAMMING}".split()
)
