import "../zone.ts";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Page } from "../../src/api/model.ts";
import { type EventLog, withNewer, withOlder } from "../../src/events/eventLog.ts";
import {
  addressOfEvents,
  isFiltered,
  localInputTime,
  NO_EVENT_FILTERS,
  pathOfEvents,
  readEventFilters,
  utcTime,
} from "../../src/events/filters.ts";
import { type BatchEvent, EVENT_KINDS, toneOf } from "../../src/events/model.ts";
import { goTo, parametersOf } from "../address.ts";

function page(ids: string, nextLink?: string): Page<BatchEvent> {
  return { value: [...ids].map((id) => ({ id }) as BatchEvent), ...(nextLink && { nextLink }) };
}

function log(ids: string, next: string | null = "/older"): EventLog {
  return { rows: page(ids).value, next };
}

/** Reads these pages by path; fails for any other path. */
function reading(pages: Record<string, Page<BatchEvent>>) {
  return async (path: string) => {
    const found = pages[path];
    assert.ok(found, `${path} was read`);
    return found;
  };
}

function contents({ rows, next }: EventLog): [string, string | null] {
  return [rows.map(({ id }) => id).join(""), next];
}

beforeEach(() => goTo("?view=events"));

test("a log begins with the first page that holds any event", async () => {
  const read = reading({ "/": page("", "/2"), "/2": page("cb", "/3") });
  assert.deepEqual(contents(await withNewer(null, "/", read, false)), ["cb", "/3"]);
});

test("newer events come before the loaded ones, and none comes twice", async () => {
  const read = reading({ "/": page("edc", "/2") });
  assert.deepEqual(contents(await withNewer(log("cba"), "/", read, true)), ["edcba", "/older"]);
});

test("newer events may take several pages up to the loaded ones", async () => {
  const read = reading({ "/": page("gf", "/2"), "/2": page("ed", "/3"), "/3": page("cb", "/4") });
  assert.deepEqual(contents(await withNewer(log("ba"), "/", read, true)), ["gfedcba", "/older"]);
});

test("after too many new events the log restarts", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`/${at}`, page(String.fromCharCode(65 + at), `/${at + 1}`)]),
  );
  assert.deepEqual(contents(await withNewer(log("cba"), "/0", reading(pages), true)), ["ABCDEFGHIJ", "/10"]);
});

test("a log becomes empty when its filter lets no event through any more", async () => {
  assert.deepEqual(contents(await withNewer(log("cba"), "/", reading({ "/": page("") }), false)), ["", null]);
});

test("older events follow the loaded ones, after skipping empty pages", async () => {
  const read = reading({ "/older": page("", "/2"), "/2": page("ba", "/3") });
  assert.deepEqual(contents(await withOlder(log("cb"), read)), ["cba", "/3"]);
});

test("the end of a log is known after it was read", async () => {
  assert.deepEqual(contents(await withOlder(log("b"), reading({ "/older": page("") }))), ["b", null]);
  assert.deepEqual(contents(await withOlder(log("b", null), reading({}))), ["b", null]);
});

test("filters survive the address", () => {
  const filters = { ...NO_EVENT_FILTERS, account: "scope", job: "a&b", from: "2026-11-21T12:00:00Z" };
  goTo(addressOfEvents(filters));
  assert.deepEqual(readEventFilters(), filters);
});

test("an account alone isn't a filter", () => {
  assert.ok(!isFiltered({ ...NO_EVENT_FILTERS, account: "scope" }));
  assert.ok(isFiltered({ ...NO_EVENT_FILTERS, node: "n" }));
});

test("events are requested a page at a time, as CSV, or in a given number", () => {
  const filters = { account: "a/b", job: "x y", task: "" };
  assert.ok(pathOfEvents(filters).startsWith("/api/accounts/a%2Fb/events?"));
  assert.deepEqual(parametersOf(pathOfEvents(filters)), { maxpagesize: "50", job: "x y" });
  assert.deepEqual(parametersOf(pathOfEvents(filters, { format: "csv" })), {
    format: "csv",
    maxpagesize: "1000",
    job: "x y",
  });
  assert.deepEqual(parametersOf(pathOfEvents(filters, { rows: 6 })), { maxpagesize: "6", job: "x y" });
});

test("times are shown and typed in the user's zone, in winter and in summer", () => {
  assert.equal(localInputTime("2026-11-21T12:00:00Z"), "2026-11-21T13:00");
  assert.equal(localInputTime("2026-07-21T12:00:59+05:30"), "2026-07-21T08:30");
  assert.equal(utcTime("2026-11-21T13:00"), "2026-11-21T12:00:00Z");
  assert.equal(utcTime("2026-07-21T14:00"), "2026-07-21T12:00:00Z");
});

test("a typed time is shown again, except in the hour that summer time skips", () => {
  for (const local of ["2026-03-29T01:59", "2026-03-29T03:00", "2026-10-25T02:30", "2027-01-01T00:00"]) {
    assert.equal(localInputTime(utcTime(local)), local);
  }
  assert.equal(localInputTime(utcTime("2026-03-29T02:30")), "2026-03-29T03:30");
});

test("an invalid time is an empty field", () => {
  for (const time of ["", "yesterday", "2026-13-01T00:00:00Z"]) assert.equal(localInputTime(time), "");
  assert.equal(utcTime(""), "");
});

test("failures, and events of nodes that harm tasks, stand out", () => {
  const bad = EVENT_KINDS.filter((kind) => toneOf(kind) === "bad");
  assert.deepEqual(bad, [
    "TaskFailEvent",
    "TaskScheduleFailEvent",
    "node.oom_kill",
    "node.disk_full",
    "node.gpu_xid",
    "node.gpu_ecc",
    "node.start_task_hang",
  ]);
  assert.equal(toneOf("node.fan_failure"), "plain");
});
