// Times as ages, by the server's clock; updated every second.

import { formatAge, formatSeconds } from "../../format/durations.ts";
import { serverClock } from "../../time/clock.ts";
import { useTick } from "../../time/useTick.ts";

/** "3 min ago". */
export function Age({ at, none = "never" }: { at: string | null; none?: string }) {
  useTick();
  if (!at) return <>{none}</>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {formatAge(serverClock.now() - Date.parse(at))} ago
    </time>
  );
}

/** "3 h 12 min", the time since then. */
export function TimeInState({ since }: { since: string | null }) {
  useTick();
  if (!since) return <>an unknown time</>;
  const milliseconds = Math.max(0, serverClock.now() - Date.parse(since));
  return (
    <time dateTime={since} title={new Date(since).toLocaleString()}>
      {formatSeconds(Math.floor(milliseconds / 1000))}
    </time>
  );
}
