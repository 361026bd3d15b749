// A failed poll, in the server's own words, with a button that retries.

import type { AccountError } from "../../api/listPoller.ts";
import type { PollFailure } from "../../api/poller.ts";
import { ExternalText } from "../text/ExternalText.tsx";
import { TextWithIds } from "../text/Id.tsx";

interface ErrorNoticeProps {
  failure: PollFailure;
  retry: () => void;
  /** Names the test id. */
  name: string;
  /** Names the button for screen readers. */
  subject?: string;
  /** Whether older data is still shown. */
  hasOlderData?: boolean;
}

/** The server's own sentence; another one if it didn't answer. */
export function FailureText({ failure: { message } }: { failure: PollFailure }) {
  return message === null ? <>The server doesn't respond.</> : <TextWithIds text={message} />;
}

export function ErrorNotice({
  failure,
  retry,
  name,
  subject = "",
  hasOlderData = false,
}: ErrorNoticeProps) {
  return (
    <p class="problem" role="alert" data-testid={`${name}-problem`}>
      <span>
        <FailureText failure={failure} />
        {hasOlderData && " Showing earlier data."}
      </span>
      <button type="button" onClick={retry} aria-label={subject ? `Retry: ${subject}` : undefined}>
        Retry
      </button>
    </p>
  );
}

/** Accounts whose lists couldn't be read. */
export function AccountErrors({ errors }: { errors: AccountError[] }) {
  return (
    <>
      {errors.map(({ account, message }) => (
        <p key={account} class="problem" role="alert" data-testid="problem">
          <strong>
            <ExternalText text={account} />:
          </strong>{" "}
          <ExternalText text={message} />
        </p>
      ))}
    </>
  );
}
