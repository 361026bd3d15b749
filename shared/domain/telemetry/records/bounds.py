"""Limits of the decoders: larger input is rejected with a sentence before memory is spent on it.

A Telegraf flush holds some thousand records: a third of a megabyte of JSON, some tens of kilobytes compressed.
"""

MIB = 1 << 20
MAX_STORED = 4 * MIB  # of a compressed unit: the former limit of an append block
MAX_DECODED = 8 * MIB  # of a unit's text, which is read in parts: short records take twenty times as much memory
FREE_DECODED = MIB // 16  # decoded bytes that any unit may have, regardless of its own size
MAX_RATIO = 250  # decoded to stored bytes, beyond FREE_DECODED; deflate alone could reach 1,032
MAX_WINDOW_LOG = 25  # of a zstd frame, in bits: the encoders that agents use stay at or below 32 MiB
MAX_BLOCKS = 4096  # of a zstd frame
MAX_LINE = 4 * MIB  # also of a record of several lines, so that any fits into a reader's window
MAX_STRING = 64 << 10  # bytes of a quoted string of line protocol: InfluxDB's limit
MAX_MISTAKES = 100_000  # invalid lines of a compressed unit, or records of one line, after which the rest is skipped
MAX_LISTED = 1000  # invalid lines or records; the others are only counted
MAX_PARTS = 400_000  # of an invalid line of JSON, by its commas
MAX_SEARCHED_NAMES = 2 * MIB  # characters of uncached names and tags in one pass, as the search for secrets is slow
SEARCHED_A_RECORD = 16  # overhead of an uncached record, in characters
MAX_SEARCHED = 32 * MIB  # bytes read in failed attempts to find the next unit, in one window
MAX_WORK = 32 * MIB  # bytes of text in one pass, except for the last unit's
TEXT_A_LINE = 32  # overhead of a line, in bytes
UNIT = 2048  # overhead of a unit, in bytes
SLOW_RECORD = 256  # overhead of a record that a full grammar reads, in bytes
WINDOW = MAX_STORED + MIB  # bytes that a reader passes per call, if the blob has as many
STEP = MIB // 16  # bytes of text per step
