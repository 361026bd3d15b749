"""What an account's nodes and jobs cost."""
