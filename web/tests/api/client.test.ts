import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { ApiClient, ApiError, requestCsv, sameOriginPath, UnreachableError } from "../../src/api/client.ts";
import { goTo } from "../address.ts";

interface Call {
  path: string;
  tag: string | null;
}

let calls: Call[] = [];
let answers: (Response | Error)[] = [];
const signal = new AbortController().signal;

/** Sets the server's next answers, in order. */
function answer(...next: (Response | Error)[]): void {
  answers = next;
}

function json(body: unknown, etag = "", status = 200): Response {
  return Response.json(body, { status, headers: etag ? { ETag: etag } : {} });
}

beforeEach(() => {
  calls = [];
  goTo("");
  mock.method(globalThis, "fetch", async (path: string, { headers }: RequestInit) => {
    calls.push({ path, tag: new Headers(headers).get("If-None-Match") });
    const next = answers.shift();
    if (next instanceof Response) return next;
    throw next ?? new TypeError("no answer was planned");
  });
});
afterEach(() => mock.restoreAll());

test("an unchanged answer is taken from the cache", async () => {
  const client = new ApiClient();
  answer(json({ jobs: 1 }, '"v1"'), new Response(null, { status: 304 }));
  assert.deepEqual(await client.get("/api/x", signal), { jobs: 1 });
  client.dropUnused();
  assert.deepEqual(await client.get("/api/x", signal), { jobs: 1 });
  assert.deepEqual(
    calls.map(({ tag }) => tag),
    [null, '"v1"'],
  );
});

test("an answer with a weak ETag is requested in full again", async () => {
  const client = new ApiClient();
  answer(json(1, 'W/"v1"'), json(2, 'W/"v1"'));
  await client.get("/api/x", signal);
  client.dropUnused();
  assert.equal(await client.get("/api/x", signal), 2);
  assert.deepEqual(
    calls.map(({ tag }) => tag),
    [null, null],
  );
});

test("an answer that wasn't used since is dropped", async () => {
  const client = new ApiClient();
  answer(json(1, '"v1"'), json(1, '"v1"'));
  await client.get("/api/x", signal);
  client.dropUnused();
  client.dropUnused();
  await client.get("/api/x", signal);
  assert.deepEqual(
    calls.map(({ tag }) => tag),
    [null, null],
  );
});

test("a list follows its links, on the page's own host only", async () => {
  answer(
    json({ value: [1, 2], nextLink: "http://elsewhere.example/api/x?skip=2" }),
    json({ value: [3], nextLink: "/api/x?skip=3" }),
    json({ value: [] }),
  );
  assert.deepEqual(await new ApiClient().list("/api/x", signal), { values: [1, 2, 3], truncated: false });
  assert.deepEqual(
    calls.map(({ path }) => path),
    ["/api/x", "/api/x?skip=2", "/api/x?skip=3"],
  );
});

test("a list that never ends is cut off, and says that it goes on", async () => {
  answer(...Array.from({ length: 30 }, () => json({ value: [1], nextLink: "/api/x?skip=1" })));
  const { values, truncated } = await new ApiClient().list("/api/x", signal);
  assert.deepEqual([values.length, truncated, calls.length], [20, true, 20]);
});

test("an error has the server's sentence, its code and when to try again", async () => {
  const body = { error: { code: "AccountNotFound", message: "There is no such account." } };
  answer(Response.json(body, { status: 404, headers: { "Retry-After": "7" } }));
  await assert.rejects(new ApiClient().get("/api/x", signal), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      [error.status, error.message, error.code, error.retryAfter],
      [404, body.error.message, "AccountNotFound", 7],
    );
    return true;
  });
});

test("an error without a sentence, as of a proxy, names its status", async () => {
  for (const body of ["<html>", "null", '{"error":{"message":""}}', '{"error":{"message":5,"code":5}}']) {
    answer(new Response(body, { status: 502, headers: { "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" } }));
    await assert.rejects(new ApiClient().get("/api/x", signal), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        [error.message, error.code, error.retryAfter],
        ["The server answered with status 502.", "", null],
      );
      return true;
    });
  }
});

test("no answer, and one that isn't JSON, count as an unreachable server", async () => {
  answer(new TypeError("Failed to fetch"));
  await assert.rejects(new ApiClient().get("/api/x", signal), UnreachableError);
  answer(new Response("half an ans"));
  await assert.rejects(new ApiClient().get("/api/x", signal), UnreachableError);
});

test("an aborted request raises the abort", async () => {
  const stopped = new AbortController();
  stopped.abort();
  answer(new DOMException("stopped", "AbortError"));
  await assert.rejects(new ApiClient().get("/api/x", stopped.signal), { name: "AbortError" });
});

test("a failed request for a table raises the server's sentence", async () => {
  answer(json({ error: { message: "Too many rows." } }, "", 400));
  await assert.rejects(requestCsv("/api/x?format=csv", signal), { message: "Too many rows." });
});

test("a link is followed by its path and query alone", () => {
  assert.equal(sameOriginPath("https://other.example:8443/api/x?a=1&b=%20#part"), "/api/x?a=1&b=%20");
  assert.equal(sameOriginPath("/api/x"), "/api/x");
});
