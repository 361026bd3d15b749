"""What failed tasks wrote last: which outputs are kept, excerpts, signatures, advice, and groups that say the same.

It may import `files`, `leaves`, `tasks` and lower packages. `excerpts` has the entry, `error_excerpt`; `output_groups`
builds and merges groups. Input is external text of any size and kind, redacted before it comes here: all work is linear
in its length. `failed_runs` chooses the runs whose outputs are kept.
"""
