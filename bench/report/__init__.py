"""Rows of tables, and charts."""
