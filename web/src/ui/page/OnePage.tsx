// What pages of one job, pool or schedule have in common: they load, they fail, and there may be no such thing.

import type { ComponentChildren } from "preact";
import type { PollFailure } from "../../api/poller.ts";
import type { Polled } from "../../api/usePolled.ts";
import { begun } from "../../format/text.ts";
import { Link } from "../../routing/Link.tsx";
import { ExternalText } from "../text/ExternalText.tsx";
import { ErrorNotice } from "./ErrorNotice.tsx";

interface TopProps<T> {
  polled: Polled<T>;
  /** "pool". */
  name: string;
  children: (value: T) => ComponentChildren;
}

/** That the server doesn't answer at all is told above the page. */
export function Top<T>({ polled: { value, failure, retry }, name, children }: TopProps<T>) {
  return (
    <>
      {failure?.message != null && <ErrorNotice failure={failure} retry={retry} name={name} />}
      {value ? (
        <div class={failure ? "outdated" : ""}>{children(value)}</div>
      ) : (
        !failure && <p class={`loading card ${name}-loading`}>Loading…</p>
      )}
    </>
  );
}

interface NotThereProps {
  name: string;
  failure: PollFailure;
  /** The list as it was left. */
  back: string;
}

/** What is missing may be the account that it is said to be of. */
export function NotThere({ name, failure, back }: NotThereProps) {
  const missing = failure.code === "AccountNotFound" ? "account" : name;
  return (
    <div class="empty" data-testid={`no-such-${missing}`}>
      <h3>{begun(missing)} not found</h3>
      <p>
        <ExternalText text={failure.message ?? ""} />
      </p>
      <Link to={back}>Show all {name}s</Link>
    </div>
  );
}
