"""Queue triggers: claims, retries and poison messages."""
