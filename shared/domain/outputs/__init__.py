"""What failed tasks wrote last: excerpts, signatures, advice, and groups of tasks that say the same.

It may import `tasks` and lower packages. `excerpts` has the entry, `error_excerpt`; `output_groups` builds and merges
groups. Input is external text of any size and kind, redacted before it comes here: all work is linear in its length.
"""
