"""What queries answer with: stored facts together with what is said of them now.

Imports all subjects that it reports on, and `polling`.
"""
