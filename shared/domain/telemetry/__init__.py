"""What nodes tell of themselves: bytes of an append blob become records, series of one normal form and their rollups.

Nothing here reads a blob or keeps a row; `intake.py` is what a reader of blobs calls.
"""
