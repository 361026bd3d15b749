"""`dev.py backup` and `dev.py restore`: all tables of a deployment to blobs and back, while the app runs.

docs/operations.md says how to use it, docs/backup-format.md what the blobs hold. The app needs none of this.
"""
