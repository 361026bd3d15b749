r"""One form of ETags: quoted, as in headers. Lists of blobs and messages of other hosts may omit the quotes.

Azure's host keeps the quotes. A published trace of one with Azure.Storage.Blobs 12.27 reads the receipt
`…/Host.Functions.NAME/%220x8DED069863F6A51%22/…`; a published message of one has `"ETag":"\"0x8DD51CD85C7A615\""`.
"""


def quoted(etag: str) -> str:
    """Returns the ETag with quotes, however it is written, so that equal ETags compare equal."""
    return f'"{etag.strip('"')}"'
