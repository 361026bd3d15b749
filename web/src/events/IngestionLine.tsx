// The status of an account's event ingestion in a line, and its problems below.

import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { formatAge } from "../format/durations.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { serverClock } from "../time/clock.ts";
import { useTick } from "../time/useTick.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Ingestion } from "./model.ts";

const INTERVAL_MS = 10_000;
const OVERDUE_MS = 10 * 60_000;
const UNITS = ["kB", "MB", "GB"];

export function IngestionLine({ account }: { account: string }) {
  const { value, failure } = usePolled<Ingestion>({
    path: pathOfAccount(account, "ingestion"),
    intervalMs: INTERVAL_MS,
  });
  if (failure?.message != null && !value) {
    return (
      <p class="ingestion bad" data-testid="ingestion">
        Event ingestion status unavailable: <ExternalText text={failure.message} />
      </p>
    );
  }
  return value ? (
    <IngestionStatus account={account} ingestion={value} />
  ) : (
    <p class="ingestion">Loading the event ingestion status…</p>
  );
}

function IngestionStatus({ account, ingestion }: { account: string; ingestion: Ingestion }) {
  if (!ingestion.container) {
    return (
      <p class="ingestion" data-testid="ingestion">
        Event ingestion is off. Set <code>TELEMETRY_STORAGE</code> to the storage account that holds Batch's resource
        logs.
      </p>
    );
  }
  return (
    <>
      <p class="ingestion" data-testid="ingestion">
        {plural(ingestion.events, "event")} so far, from {plural(ingestion.blobs, "log")}, last check{" "}
        <Age at={ingestion.sweptAt} none="pending" />
        {ingestion.latestEvent && (
          <>
            ; latest event logged <Age at={ingestion.latestEvent} />
          </>
        )}
        {ingestion.repeats > 0 && `; ${plural(ingestion.repeats, "duplicate")} dropped`}.
      </p>
      <IngestionProblems account={account} ingestion={ingestion} />
    </>
  );
}

function IngestionProblems({ account, ingestion }: { account: string; ingestion: Ingestion }) {
  useTick();
  const { sweptAt, behindSince, problems, refused } = ingestion;
  const age = (at: string | null) => (at ? serverClock.now() - Date.parse(at) : 0);
  const isBehindLong = age(behindSince) > OVERDUE_MS;
  const isSweepOverdue = ingestion.blobs > 0 && age(sweptAt) > OVERDUE_MS;
  if (!ingestion.behindBytes && !isSweepOverdue && !problems.length && !refused) return null;
  return (
    <ul class="ingestion-trouble" data-testid="ingestion-trouble">
      {isSweepOverdue && (
        <li class="bad">
          The last check of the logs was {formatAge(age(sweptAt))} ago, so newer events are missing. Check that the function app
          is running.
        </li>
      )}
      {ingestion.behindBytes > 0 && (
        <li class={isBehindLong ? "bad" : ""}>
          {size(ingestion.behindBytes)} in {plural(ingestion.behindBlobs, "log")} waiting to be read
          {isBehindLong && ` for ${formatAge(age(behindSince))}; some events are missing`}.
        </li>
      )}
      {refused > 0 && (
        <li>
          {plural(refused, "record")} couldn't be read;{" "}
          <a href={`${pathOfAccount(account, "rejects")}?format=csv&maxpagesize=1000`} download="rejects.csv">
            download the list with reasons
          </a>
          .
        </li>
      )}
      {problems.map((problem) => (
        <li key={problem} class="bad">
          <ExternalText text={problem} />
        </li>
      ))}
    </ul>
  );
}

/** "13 bytes", "1.2 MB". */
function size(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length);
  const value = bytes / 1000 ** power;
  return `${value < 10 ? value.toFixed(1) : formatCount(Math.round(value))} ${UNITS[power - 1]}`;
}
