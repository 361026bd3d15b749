// Watches a list of events from a component.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Kept, LogReader, NOTHING } from "./log.ts";

export interface WatchedLog extends Kept {
  readOlder: () => void;
  retry: () => void;
}

/** Watches the list at a path; what is shown is never of another. */
export function useLog(path: string, isRead: () => boolean): WatchedLog {
  const [shown, show] = useState({ path, kept: NOTHING });
  const reader = useRef<LogReader>(null);
  useEffect(() => {
    reader.current = new LogReader(path, isRead, (kept) => show({ path, kept }));
    return reader.current.start();
  }, [path]);
  return {
    ...(shown.path === path ? shown.kept : NOTHING),
    readOlder: () => void reader.current?.older(),
    retry: () => reader.current?.refresh(),
  };
}
