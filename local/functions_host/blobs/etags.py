r"""One notion of ETags: with quotes, as in headers. Lists of blobs, and messages of other hosts, may leave them out.

Azure's host keeps the quotes. A published trace of one with Azure.Storage.Blobs 12.27 asks for the receipt
`…/Host.Functions.NAME/%220x8DED069863F6A51%22/…`; a published message of one has `"ETag":"\"0x8DD51CD85C7A615\""`.
"""


def quoted(etag: str) -> str:
    """The same for an ETag however it is written, so that two of one content are equal."""
    return f'"{etag.strip('"')}"'
