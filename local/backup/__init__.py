"""`dev.py backup` and `dev.py restore`: copy all tables of a deployment to blobs, while the app runs, and back.

docs/operations.md describes their use, docs/backup-format.md the blobs. The app needs none of this.
"""
