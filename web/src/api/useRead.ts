// Reads one path of the API once, and again on demand: for answers that cost requests to Batch.

import { useEffect, useRef, useState } from "preact/hooks";
import { errorMessage } from "./poller.ts";

export interface Read<T> {
  value: T | null;
  /** The sentence of a failed read. */
  error: string | null;
}

interface ReadOfPath<T> extends Read<T> {
  path: string;
}

/** Reads while `enabled`, unless the path was read before. `value` and `error` are always those of `path`. */
export function useRead<T>(
  path: string,
  read: (path: string, signal: AbortSignal) => Promise<T>,
  enabled = true,
): Read<T> & { retry: () => void } {
  const [latest, setLatest] = useState<ReadOfPath<T>>({ path, value: null, error: null });
  const [attempt, setAttempt] = useState(0);
  const done = useRef("");
  const key = `${attempt} ${path}`;
  useEffect(() => {
    if (!enabled || done.current === key) return undefined;
    const stopped = new AbortController();
    void outcomeOf(() => read(path, stopped.signal)).then((outcome) => {
      if (stopped.signal.aborted) return;
      done.current = key;
      setLatest({ path, ...outcome });
    });
    return () => stopped.abort();
  }, [key, enabled]);
  const retry = () => {
    setLatest({ path, value: null, error: null });
    setAttempt(attempt + 1);
  };
  const { value, error } = latest.path === path ? latest : { value: null, error: null };
  return { value, error, retry };
}

async function outcomeOf<T>(read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { value: await read(), error: null };
  } catch (cause) {
    return { value: null, error: errorMessage(cause) };
  }
}
