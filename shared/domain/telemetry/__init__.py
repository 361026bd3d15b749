"""Node telemetry: converts bytes of an append blob to records, normalized series and rollups.

Nothing here reads a blob or writes a row; a blob reader calls `intake.py`.
"""
