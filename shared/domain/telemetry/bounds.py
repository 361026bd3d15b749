"""The most that decoders take. What is larger is refused with a sentence, before memory is spent on it.

A flush of Telegraf holds some thousand records, a third of a megabyte of JSON and some tens of kilobytes compressed.
"""

MIB = 1 << 20
MOST_STORED = 4 * MIB  # of a compressed unit: what an append block could hold before blobs had larger ones
MOST_DECODED = 8 * MIB  # of a unit's text; its records take some ten times as much memory at worst
FREE_DECODED = MIB // 4  # that a unit may decode to whatever its own size
MOST_RATIO = 250  # decoded to stored, beyond that; deflate alone could reach 1,032
MOST_WINDOW_LOG = 25  # of a zstd frame, in bits: the encoders that agents use stay at or below 32 MiB
MOST_BLOCKS = 4096  # of a zstd frame
MOST_LINE = 4 * MIB
MOST_STRING = 64 << 10  # bytes of a quoted string of line protocol, as InfluxDB has it
MOST_MISTAKES = 1000  # of a compressed unit, or of one line of JSON; the rest of it is passed over then
MOST_LISTED = 1000  # lines of a text that make no sense; the others are counted
MOST_SEARCHES = 8  # for the begin of a unit behind a damaged one, in a row
WINDOW = MOST_STORED + MIB  # bytes that a reader hands over at once, of a blob that has them
STEP = MIB // 4  # bytes of text that are read at once
