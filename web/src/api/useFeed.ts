// Watches a feed from a component.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, Feed, Picture } from "./feed.ts";
import type { PollResult } from "./poller.ts";

/** Watches a feed while the component is there; what it last read shows at once. */
export function useFeed<Row extends { account: string }>(feed: Feed<Row>, asked: Asked): PollResult<Picture<Row>> {
  const [result, setReading] = useState(feed.result);
  const before = useRef(asked);
  useEffect(() => feed.start(asked, setReading), [feed]);
  useEffect(() => {
    if (before.current !== asked) feed.look(asked);
    before.current = asked;
  }, [asked.account, asked.query]);
  return result;
}
