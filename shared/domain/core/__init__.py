"""Basics that every subject uses: table keys, time stamps, amounts in sentences and limits on calls.

It imports no other package of this repository, and every package may import it.
"""
