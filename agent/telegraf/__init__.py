"""Telegraf's configurations, and its records on standard input."""
