"""Records of a simulation besides its entities: planned events, changes to store, and the resource log.

Imports `core` and `entities`.
"""
