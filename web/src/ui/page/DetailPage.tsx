// The states that pages of one job, pool or schedule share: loading, failed, not found.

import type { ComponentChildren } from "preact";
import type { PollFailure } from "../../api/poller.ts";
import type { Polled } from "../../api/usePolled.ts";
import { capitalized } from "../../format/text.ts";
import { Link } from "../../routing/Link.tsx";
import { ExternalText } from "../text/ExternalText.tsx";
import { ErrorNotice } from "./ErrorNotice.tsx";
import { Loading } from "./PolledContents.tsx";

interface DetailBodyProps<T> {
  polled: Polled<T>;
  /** The kind of resource, such as "pool". */
  name: string;
  children: (value: T) => ComponentChildren;
}

/** Shows errors that the server sent; the banner above the page says that it doesn't answer at all. */
export function DetailBody<T>({ polled: { value, failure, retry }, name, children }: DetailBodyProps<T>) {
  return (
    <>
      {failure?.message != null && <ErrorNotice failure={failure} retry={retry} name={name} />}
      {value ? (
        <div class={failure ? "outdated" : ""}>{children(value)}</div>
      ) : (
        !failure && (
          <div class={`card ${name}-loading`}>
            <Loading />
          </div>
        )
      )}
    </>
  );
}

interface NotFoundProps {
  name: string;
  failure: PollFailure;
  /** The address at which the list was left. */
  back: string;
}

/** The missing resource may be the account. */
export function NotFound({ name, failure, back }: NotFoundProps) {
  const missing = failure.code === "AccountNotFound" ? "account" : name;
  return (
    <div class="empty" data-testid={`no-such-${missing}`}>
      <h3>{capitalized(missing)} not found</h3>
      <p>
        <ExternalText text={failure.message ?? ""} />
      </p>
      <Link to={back}>Show all {name}s</Link>
    </div>
  );
}
