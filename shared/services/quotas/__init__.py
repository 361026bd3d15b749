"""Quotas of accounts: reading limits once an hour, and answers with limit, use and share. Imports accounts."""
