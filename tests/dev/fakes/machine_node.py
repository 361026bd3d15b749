"""Replaces the program that plays a node with this machine."""

import time

from tests.dev.fakes.fake import misbehave

misbehave("machine")
time.sleep(600)
