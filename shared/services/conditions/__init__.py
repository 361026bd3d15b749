"""Conditions of accounts: their evaluation after polls, and answers about them. Imports `queries` and `accounts`."""
