"""A clock for the app that a test moves ahead, so that no test waits for the end of a minute."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class AheadClock:
    """The real time, some seconds ahead; `url` serves it as the setting CLOCK_URL requires."""

    def __init__(self) -> None:
        self.url = ""
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def move_into_next_minute(self) -> datetime:
        """Returns the end of the minute that is over now."""
        end = self.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
        self._ahead += end + timedelta(seconds=1) - self.now()
        return end


@contextmanager
def ahead_clock() -> Iterator[AheadClock]:
    clock = AheadClock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"time": clock.now().isoformat()}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Logs nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        clock.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield clock
        server.shutdown()
        thread.join()
