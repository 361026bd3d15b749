"""Storage that gives one answer to every request."""

import asyncio

from shared.stores.tables.tables import Tables


class Stub:
    """Storage whose answer to each request is `status` and `body`; `requests` counts them."""

    def __init__(self) -> None:
        self.address, self.status, self.body, self.requests = "", 200, b"", 0

    def tables(self) -> Tables:
        text = f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey=a2V5;TableEndpoint={self.address};"
        return Tables.connect(connection_string=text, endpoint=None, credential=None, prefix="")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        head = (
            f"HTTP/1.1 {self.status} Status\r\nContent-Type: application/json\r\nContent-Length: {len(self.body)}\r\n"
        )
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + self.body)
        await writer.drain()
        writer.close()
