"""What sets a job's failed tasks apart from those that succeeded: contrast sets with a correction for many comparisons.

Contrast sets are the field's term for groups that two populations have unequal shares of. ADR 42 has the measure.
"""
