"""Looks up watched accounts by the names that clients use. Imports stores."""
