import "../zone.ts";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Page } from "../../src/api/model.ts";
import {
  addressOfEvents,
  isFiltered,
  localOf,
  NO_EVENT_FILTERS,
  pathOfEvents,
  readEventFilters,
  timeOf,
} from "../../src/events/filters.ts";
import { type Log, withHead, withOlder } from "../../src/events/log.ts";
import type { EventLine } from "../../src/events/model.ts";
import { goTo, parametersOf } from "../address.ts";

function page(ids: string, nextLink?: string): Page<EventLine> {
  return { value: [...ids].map((id) => ({ id }) as EventLine), ...(nextLink && { nextLink }) };
}

function log(ids: string, next: string | null = "/older"): Log {
  return { rows: page(ids).value, next };
}

/** Reads these pages by path; one that isn't there fails. */
function reading(pages: Record<string, Page<EventLine>>) {
  return async (path: string) => {
    const found = pages[path];
    assert.ok(found, `${path} was read`);
    return found;
  };
}

function told({ rows, next }: Log): [string, string | null] {
  return [rows.map(({ id }) => id).join(""), next];
}

beforeEach(() => goTo("?view=events"));

test("a log begins with the first page that holds any event", async () => {
  const read = reading({ "/": page("", "/2"), "/2": page("cb", "/3") });
  assert.deepEqual(told(await withHead(null, "/", read, false)), ["cb", "/3"]);
});

test("newer events come before those at hand, and none comes twice", async () => {
  const read = reading({ "/": page("edc", "/2") });
  assert.deepEqual(told(await withHead(log("cba"), "/", read, true)), ["edcba", "/older"]);
});

test("newer events may take some pages to lead up to those at hand", async () => {
  const read = reading({ "/": page("gf", "/2"), "/2": page("ed", "/3"), "/3": page("cb", "/4") });
  assert.deepEqual(told(await withHead(log("ba"), "/", read, true)), ["gfedcba", "/older"]);
});

test("where too much came meanwhile the log begins anew", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`/${at}`, page(String.fromCharCode(65 + at), `/${at + 1}`)]),
  );
  assert.deepEqual(told(await withHead(log("cba"), "/0", reading(pages), true)), ["ABCDEFGHIJ", "/10"]);
});

test("a log whose filter lets nothing through any more becomes empty", async () => {
  assert.deepEqual(told(await withHead(log("cba"), "/", reading({ "/": page("") }), false)), ["", null]);
});

test("older events follow those at hand, past pages that hold none", async () => {
  const read = reading({ "/older": page("", "/2"), "/2": page("ba", "/3") });
  assert.deepEqual(told(await withOlder(log("cb"), read)), ["cba", "/3"]);
});

test("the end of a log is known once it was read", async () => {
  assert.deepEqual(told(await withOlder(log("b"), reading({ "/older": page("") }))), ["b", null]);
  assert.deepEqual(told(await withOlder(log("b", null), reading({}))), ["b", null]);
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

test("events are asked for a page at a time, as a table, or as many as are wanted", () => {
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

test("times are shown and typed in the reader's zone, in winter and in summer", () => {
  assert.equal(localOf("2026-11-21T12:00:00Z"), "2026-11-21T13:00");
  assert.equal(localOf("2026-07-21T12:00:59+05:30"), "2026-07-21T08:30");
  assert.equal(timeOf("2026-11-21T13:00"), "2026-11-21T12:00:00Z");
  assert.equal(timeOf("2026-07-21T14:00"), "2026-07-21T12:00:00Z");
});

test("what was typed is shown again, but for the hour that summer time leaves out", () => {
  for (const local of ["2026-03-29T01:59", "2026-03-29T03:00", "2026-10-25T02:30", "2027-01-01T00:00"]) {
    assert.equal(localOf(timeOf(local)), local);
  }
  assert.equal(localOf(timeOf("2026-03-29T02:30")), "2026-03-29T03:30");
});

test("what is no time is an empty field", () => {
  for (const time of ["", "yesterday", "2026-13-01T00:00:00Z"]) assert.equal(localOf(time), "");
  assert.equal(timeOf(""), "");
});
