// Why there is nothing new, in the server's own words, and a button that asks again.

import type { PollFailure } from "../../api/poller.ts";
import { Outside } from "../text/Outside.tsx";

interface ProblemProps {
  failure: PollFailure;
  retry: () => void;
  /** Whose problem it is, for tests and the button's name. */
  name: string;
  of?: string;
  /** Whether something is shown all the same. */
  older?: boolean;
}

export function Problem({ failure: { message }, retry, name, of = "", older = false }: ProblemProps) {
  return (
    <p class="problem" role="alert" data-testid={`${name}-problem`}>
      <span>
        {message === null ? "The server doesn't respond." : <Outside text={message} />}
        {older && " Showing earlier data."}
      </span>
      <button type="button" onClick={retry} aria-label={of ? `Retry: ${of}` : undefined}>
        Retry
      </button>
    </p>
  );
}

/** Of accounts whose lists couldn't be read. */
export function Problems({ problems }: { problems: { account: string; message: string }[] }) {
  return (
    <>
      {problems.map(({ account, message }) => (
        <p key={account} class="problem" role="alert" data-testid="problem">
          <strong>
            <Outside text={account} />:
          </strong>{" "}
          <Outside text={message} />
        </p>
      ))}
    </>
  );
}
