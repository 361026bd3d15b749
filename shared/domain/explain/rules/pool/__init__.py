"""Rules about the job's pool: whether it exists, its target size, its formula, its resizes.

Where slots are free these findings appear, but not as the cause.
"""
