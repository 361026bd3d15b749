"""The most that decoders take. What is larger is refused with a sentence, before memory is spent on it.

A flush of Telegraf holds some thousand records, a third of a megabyte of JSON and some tens of kilobytes compressed.
"""

MIB = 1 << 20
MOST_STORED = 4 * MIB  # of a compressed unit: what an append block could hold before blobs had larger ones
MOST_DECODED = 8 * MIB  # of a unit's text; it is read by parts, as short records take twenty times as much memory
FREE_DECODED = MIB // 16  # that a unit may decode to whatever its own size
MOST_RATIO = 250  # decoded to stored, beyond that; deflate alone could reach 1,032
MOST_WINDOW_LOG = 25  # of a zstd frame, in bits: the encoders that agents use stay at or below 32 MiB
MOST_BLOCKS = 4096  # of a zstd frame
MOST_LINE = 4 * MIB  # also of a record of several lines, so that any fits into what a reader hands over
MOST_STRING = 64 << 10  # bytes of a quoted string of line protocol, as InfluxDB has it
MOST_MISTAKES = 100_000  # lines of a compressed unit, or records of one line; the rest of it is passed over then
MOST_LISTED = 1000  # lines or records that make no sense; the others are counted
MOST_PARTS = 400_000  # of a line of JSON in which something is wrong, by its commas
MOST_TOLD = 2 * MIB  # of names and tags that are learnt at once, as to look for secrets in them takes long
TOLD_A_RECORD = 16  # letters that a record takes as long as, besides its own
MOST_SEARCHED = 32 * MIB  # looked at in vain, of what a reader hands over at once: then it takes what it has so far
MOST_STREAMS = 64  # that seem to begin behind a damaged one of zlib
MOST_TEXT = 32 * MIB  # of all units that are read at once, but for the last of them
TEXT_A_LINE = 32  # bytes that a line takes as long as, besides its own
WINDOW = MOST_STORED + MIB  # bytes that a reader hands over at once, of a blob that has them
STEP = MIB // 4  # bytes of text that are read at once
