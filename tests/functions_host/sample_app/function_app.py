"""An app with one function for each feature of the host; each run appends a line to SAMPLE_RECORD."""

import asyncio
import json
import logging
import os
import time
from typing import Any, List  # noqa: UP035

import azure.functions as func

Texts = List[str]  # noqa: UP006 - the worker refuses list[str] in Out
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for _name, _value in (
    ("SAMPLE_TICK", "0 0 0 1 1 *"),
    ("SAMPLE_MINUTE", "0 0 0 1 1 *"),
    ("SAMPLE_QUEUE", "sample"),
    ("SAMPLE_BLOBS", "sample-blobs"),
):
    os.environ.setdefault(_name, _value)


def record(kind: str, **details: Any) -> None:
    path = os.environ.get("SAMPLE_RECORD")
    if path:
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(json.dumps({"kind": kind, "at": time.time(), **details}) + "\n")


def described(request: func.HttpRequest) -> func.HttpResponse:
    content = {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "query": dict(request.params),
        "route": dict(request.route_params),
        "body": request.get_body().decode(),
    }
    return func.HttpResponse(json.dumps(content), mimetype="application/json")


@app.route(route="echo/{*rest}")
async def echo(req: func.HttpRequest) -> func.HttpResponse:
    return described(req)


@app.route(route="items/special", methods=["GET"])
async def literal(req: func.HttpRequest) -> str:
    return "literal"


@app.route(route="items/{number:int}", methods=["GET"])
async def constrained(req: func.HttpRequest) -> str:
    return f"constrained {req.route_params['number']}"


@app.route(route="items/{name}", methods=["GET"])
async def plain(req: func.HttpRequest) -> str:
    return f"plain {req.route_params['name']}"


@app.route(route="items/{*rest}", methods=["GET"])
async def catch_all(req: func.HttpRequest) -> str:
    return f"catch-all {req.route_params.get('rest')}"


@app.route(route="hello/{name?}", methods=["GET"])
def hello(req: func.HttpRequest) -> str:
    return f"hello {req.route_params.get('name', 'nobody')}"


@app.route(route="thing", methods=["GET"])
async def get_thing(req: func.HttpRequest) -> str:
    return "got"


@app.route(route="thing", methods=["PUT", "POST"])
async def put_thing(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("put", status_code=201, headers={"x-thing": "1", "Set-Cookie": "a=b; Path=/; HttpOnly"})


@app.route(route="boom")
async def boom(req: func.HttpRequest) -> str:
    raise RuntimeError("the sample went boom")


@app.route(route="slow", methods=["GET"])
async def slow(req: func.HttpRequest) -> str:
    record("slow begins")
    await asyncio.sleep(float(req.params["seconds"]))
    record("slow ends")
    return "slow"


@app.route(route="stuck", methods=["GET"])
def stuck(req: func.HttpRequest) -> str:
    time.sleep(float(req.params["seconds"]))
    return "stuck"


@app.route(route="locked", auth_level=func.AuthLevel.FUNCTION)
async def locked(req: func.HttpRequest) -> str:
    return "open"


@app.route(route="vault", auth_level=func.AuthLevel.ADMIN)
async def vault(req: func.HttpRequest) -> str:
    return "open"


@app.route(route="send", methods=["POST"])
@app.queue_output(arg_name="out", queue_name="%SAMPLE_QUEUE%", connection="AzureWebJobsStorage")
async def send(req: func.HttpRequest, out: func.Out[Texts]) -> str:
    out.set(req.get_json())
    return "sent"


@app.timer_trigger(arg_name="timer", schedule="%SAMPLE_TICK%")
async def tick(timer: func.TimerRequest) -> None:
    record("tick", past_due=timer.past_due)


@app.timer_trigger(arg_name="timer", schedule="%SAMPLE_MINUTE%")
async def minute(timer: func.TimerRequest) -> None:
    record("minute", past_due=timer.past_due, status=getattr(timer, "schedule_status", None))
    await asyncio.sleep(0.2)


@app.timer_trigger(arg_name="timer", schedule="0 0 0 1 1 *")
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:01")
async def stubborn(timer: func.TimerRequest, context: func.Context) -> None:
    record("stubborn", retry=context.retry_context.retry_count, most=context.retry_context.max_retry_count)
    raise RuntimeError("the sample is stubborn")


@app.blob_trigger(
    arg_name="blob",
    path=f"{os.environ['SAMPLE_BLOBS']}/{{name}}",
    connection="AzureWebJobsStorage",
    source=func.BlobSource.EVENT_GRID,
)
async def seen(blob: func.InputStream) -> None:
    text = blob.read().decode()
    record("seen", name=blob.name, text=text)
    if text == "unreadable":
        raise RuntimeError("the sample can't read that")


@app.queue_trigger(arg_name="message", queue_name="%SAMPLE_QUEUE%", connection="AzureWebJobsStorage")
async def work(message: func.QueueMessage) -> None:
    text = message.get_body().decode()
    logging.getLogger("sample").info("working on %s", text)
    record("work begins", text=text, dequeue_count=message.dequeue_count, id=message.id)
    if text.startswith("sleep "):
        await asyncio.sleep(float(text.split()[1]))
    if text == "fail":
        raise RuntimeError("the sample can't do that")
    record("work ends", text=text)
