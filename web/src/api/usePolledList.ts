// Connects a list poller to a component.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ListPoller, ListQuery, ListSnapshot } from "./listPoller.ts";
import type { PollResult } from "./poller.ts";

/** Polls a list while the component is mounted; begins with the poller's latest result. */
export function usePolledList<Row extends { account: string }>(
  poller: ListPoller<Row>,
  query: ListQuery,
): PollResult<ListSnapshot<Row>> {
  const [result, setResult] = useState(poller.result);
  const before = useRef(query);
  useEffect(() => poller.start(query, setResult), [poller]);
  useEffect(() => {
    if (before.current !== query) poller.setQuery(query);
    before.current = query;
  }, [query.account, query.parameters]);
  return result;
}
