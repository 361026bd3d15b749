// Polls one path of the API for one part of the page, independently of all other parts.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiClient } from "./client.ts";
import { NO_RESULT, Poller, type PollResult } from "./poller.ts";

export interface Polled<T> extends PollResult<T> {
  /** False while the value belongs to an earlier query. */
  fresh: boolean;
  retry: () => void;
}

interface PollOptions<T> {
  path: string;
  /** Identifies the query if its path moves on with time. An error never shows the value of another query. */
  queryKey?: string;
  /** Milliseconds between a response and the next request; may depend on the value. */
  intervalMs: number | ((value: T | null) => number);
  enabled?: boolean;
}

interface KeyedResult<T> extends PollResult<T> {
  queryKey: string;
}

/** Polls a path while `enabled`; a 304 has no body and keeps the value. */
export function usePolled<T>({ path, queryKey = path, intervalMs, enabled = true }: PollOptions<T>): Polled<T> {
  const [latest, setLatest] = useState<KeyedResult<T>>({ ...NO_RESULT, queryKey });
  const client = useRef(new ApiClient());
  const poller = useRef<Poller<T>>(null);
  useEffect(() => {
    if (!enabled) return undefined;
    const read = async (signal: AbortSignal) => {
      const value = await client.current.get<T>(path, signal);
      client.current.dropUnused();
      return value;
    };
    const show = ({ value, failure }: PollResult<T>) =>
      setLatest((before) => ({
        value: value ?? (before.queryKey === queryKey ? before.value : null),
        failure,
        queryKey,
      }));
    const delay = () => (typeof intervalMs === "number" ? intervalMs : intervalMs(poller.current?.value ?? null));
    poller.current = new Poller<T>(read, delay, show);
    return poller.current.start();
  }, [path, intervalMs, enabled]);
  return { ...latest, fresh: latest.queryKey === queryKey, retry: () => poller.current?.refresh() };
}
