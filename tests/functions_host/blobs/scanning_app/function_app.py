"""An app whose blob triggers scan their containers; each run appends a line to SAMPLE_RECORD."""

import asyncio
import json
import os
from typing import Any

import azure.functions as func

app = func.FunctionApp()
_FILES = "%SAMPLE_BLOBS%"


def record(kind: str, **details: Any) -> None:
    with open(os.environ["SAMPLE_RECORD"], "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(json.dumps({"kind": kind, **details}) + "\n")


@app.blob_trigger(arg_name="blob", path=f"{_FILES}/in/{{name}}.txt", connection="AzureWebJobsStorage")
async def text(blob: func.InputStream) -> None:
    record("text", name=blob.name, text=blob.read().decode())


@app.blob_trigger(arg_name="blob", path=f"{_FILES}/named/{{name}}.txt", connection="AzureWebJobsStorage")
@app.queue_output(arg_name="out", queue_name="%SAMPLE_QUEUE%-{name}", connection="AzureWebJobsStorage")
async def named(blob: func.InputStream, out: func.Out[str]) -> None:
    out.set(str(blob.name))


@app.blob_trigger(arg_name="blob", path=f"{_FILES}/bad/{{name}}", connection="AzureWebJobsStorage")
async def bad(blob: func.InputStream) -> None:
    record("bad", name=blob.name)
    raise RuntimeError("the sample can't read that")


@app.blob_trigger(arg_name="blob", path=f"{_FILES}/slow/{{name}}", connection="AzureWebJobsStorage")
async def slow(blob: func.InputStream) -> None:
    record("slow begins", name=blob.name)
    while not os.path.exists(f"{os.environ['SAMPLE_RECORD']}.go"):  # noqa: ASYNC110, ASYNC240, PTH110
        await asyncio.sleep(0.02)
    record("slow ends", name=blob.name)
