"""What every subject speaks of: keys of tables, time stamps, amounts in sentences, limits of calls.

Imports nothing of ours, and everything may import it.
"""
