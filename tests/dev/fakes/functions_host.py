"""Replaces the functions host: answers every request with 200, and logs its settings."""

import argparse
import http.server
import os

from tests.dev.fakes.fake import misbehave


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


parser = argparse.ArgumentParser()
parser.add_argument("app")
parser.add_argument("--address")
parser.add_argument("--port", type=int)
options = parser.parse_args()
misbehave("host")
print({name: value for name, value in os.environ.items() if name.startswith(("BATCH_", "Azure", "TICK_", "POLL_"))})
server = http.server.HTTPServer((options.address, options.port), Answer)
print(f"listening on http://{options.address}:{server.server_port}", flush=True)
server.serve_forever()
