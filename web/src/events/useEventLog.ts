// Connects an event log to a component.

import { useEffect, useRef, useState } from "preact/hooks";
import { EventLogPoller, type EventLogState, INITIAL_STATE } from "./eventLog.ts";

interface PolledEventLog extends EventLogState {
  loadOlder: () => void;
  retry: () => void;
}

/** Polls the event log at a path; never returns the state of another path. */
export function useEventLog(path: string, isBeingRead: () => boolean): PolledEventLog {
  const [latest, setLatest] = useState({ path, state: INITIAL_STATE });
  const poller = useRef<EventLogPoller>(null);
  useEffect(() => {
    poller.current = new EventLogPoller(path, isBeingRead, (state) => setLatest({ path, state }));
    return poller.current.start();
  }, [path]);
  return {
    ...(latest.path === path ? latest.state : INITIAL_STATE),
    loadOlder: () => void poller.current?.loadOlder(),
    retry: () => poller.current?.refresh(),
  };
}
