"""Queue triggers: leases of messages, retries and poison messages."""
