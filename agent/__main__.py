"""Entry point of the agent's file."""

import sys

from agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
