"""Judges spooled units and stored blobs. Pure: imports the standard library and nothing of the proof's other packages.

Offers `judge_node`, which returns a node's verdict, and the records that it takes.
"""
