"""What accounts, pools and jobs cost."""
