// The page's connection to the server: a word in the header, and a banner while polls fail.

import type { PollFailure, PollResult } from "../../api/poller.ts";
import { formatAge } from "../../format/durations.ts";
import { useTick } from "../../time/useTick.ts";
import { ExternalText } from "../text/ExternalText.tsx";

interface BannerProps {
  failure: PollFailure;
  retry: () => void;
}

/** The waiting time is hidden from screen readers, which would read it every second. */
export function Banner({ failure, retry }: BannerProps) {
  useTick();
  const waited = formatAge(Date.now() - failure.since);
  return (
    <div class="banner" role="alert" data-testid="banner">
      <p>
        {failure.message === null ? (
          <>
            <strong>The server hasn't responded</strong>
            <span aria-hidden="true"> for {waited}</span>; retrying.
          </>
        ) : (
          <>
            <strong>The server returned an error:</strong> <ExternalText text={failure.message} />
          </>
        )}
      </p>
      <button type="button" onClick={retry}>
        Retry now
      </button>
    </div>
  );
}

/** A 404 is an answer, too. */
export function ConnectionStatus({ result: { value, failure } }: { result: PollResult<unknown> }) {
  const live = failure ? failure.status === 404 && !value : value;
  const word = live ? "Live" : !failure ? "Connecting" : failure.message === null ? "Offline" : "Error";
  return (
    <p class="liveness" data-live={live ? "yes" : "no"}>
      <span class="pulse" aria-hidden="true" />
      {word}
    </p>
  );
}
