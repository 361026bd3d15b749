// How alive the page itself is: a quiet word while all is well, a clear one when it isn't.

import type { PollFailure, PollResult } from "../../api/poller.ts";
import { span } from "../../format/durations.ts";
import { useTick } from "../../time/useTick.ts";
import { ExternalText } from "../text/ExternalText.tsx";

interface BannerProps {
  failure: PollFailure;
  retry: () => void;
}

/** What ticks is hidden from screen readers, which would read it out every second. */
export function Banner({ failure, retry }: BannerProps) {
  useTick();
  const waited = span(Date.now() - failure.since);
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

/** That there is no such thing is an answer, too. */
export function Liveness({ result: { value, failure } }: { result: PollResult<unknown> }) {
  const live = failure ? failure.status === 404 && !value : value;
  const word = live ? "Live" : !failure ? "Connecting" : failure.message === null ? "Offline" : "Error";
  return (
    <p class="liveness" data-live={live ? "yes" : "no"}>
      <span class="pulse" aria-hidden="true" />
      {word}
    </p>
  );
}
