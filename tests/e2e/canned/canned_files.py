"""Files on the canned server: folders, and parts of files by `tail` or `offset` and `length`."""

from http.server import BaseHTTPRequestHandler
from typing import Any

_TEXT, _BINARY = "text/plain; charset=utf-8", "application/octet-stream"
STDERR = "\n".join([*(f"epoch {number} done" for number in range(40)), "MemoryError: unable to allocate 3.2 GiB"])


def files_of_task() -> dict[str, bytes]:
    """Returns files by path."""
    return {
        "stderr.txt": STDERR.encode(),
        "stdout.txt": b"",
        "wd/results/model.bin": bytes(range(256)),
        "wd/train.log": b"started\n",
    }


def files_of_node() -> dict[str, bytes]:
    """Returns files by path: those of a start task that failed, and of a task's run."""
    return {
        "startup/stderr.txt": b"fetching\ncurl: (6) Could not resolve host: scenes.example.org\n",
        "startup/stdout.txt": b"installing\n",
        "startup/wd/install.log": b"step 1\n",
        "workitems/render/job-1/frame-00012/stdout.txt": b"frame 12\n",
    }


def folder_answer(files: dict[str, bytes], folder: str) -> dict[str, Any]:
    """Returns what is in a folder, folders first."""
    prefix, found = f"{folder}/" if folder else "", dict[str, dict[str, Any]]()
    for path, content in files.items():
        if path.startswith(prefix):
            name, slash, _ = path.removeprefix(prefix).partition("/")
            size = None if slash else len(content)
            changed = None if slash else "2026-11-30T21:00:00Z"
            found[name] = {"path": prefix + name, "isFolder": bool(slash), "size": size, "lastModified": changed}
    entries = sorted(found.values(), key=lambda entry: (not entry["isFolder"], entry["path"]))
    return {"folder": folder, "complete": True, "value": entries}


def send_part(
    handler: BaseHTTPRequestHandler, content: bytes, query: dict[str, list[str]], kept: tuple[str, int] | None = None
) -> None:
    """Answers with a part of a file; `kept` is when its end was kept, and the first byte of that."""
    size, tail = len(content), int(query.get("tail", ["0"])[0])
    start = max(0, size - tail) if tail else min(size, int(query.get("offset", ["0"])[0]))
    end = min(size, start + int(query.get("length", [str(size)])[0]))
    if kept:
        start = max(start, kept[1])
        end = max(start, end)
    handler.send_response(200)
    handler.send_header("Content-Type", _BINARY if b"\0" in content else _TEXT)
    for name, number in (("File-Size", size), ("Offset", start), ("Next-Offset", end)):
        handler.send_header(f"Batchscope-{name}", str(number))
    if kept:
        handler.send_header("Batchscope-Kept-At", kept[0])
    handler.send_header("Content-Length", str(end - start))
    handler.end_headers()
    handler.wfile.write(content[start:end])
