// The contents of a part that loads and fails independently of the others: loading, failed, outdated.

import type { ComponentChildren } from "preact";
import type { Polled } from "../../api/usePolled.ts";
import { ErrorNotice } from "./ErrorNotice.tsx";

interface PolledContentsProps<T> {
  polled: Polled<T>;
  /** Names the test id of the error notice. */
  name: string;
  title: string;
  children: (value: T) => ComponentChildren;
}

export function PolledContents<T>({ polled, name, title, children }: PolledContentsProps<T>) {
  const { value, failure, fresh, retry } = polled;
  const kind = failure ? "contents outdated" : fresh ? "contents" : "contents waiting";
  return (
    <>
      {failure && (
        <ErrorNotice failure={failure} retry={retry} name={name} subject={title} hasOlderData={value !== null} />
      )}
      {value ? (
        <div class={kind} aria-busy={!fresh}>
          {children(value)}
        </div>
      ) : (
        !failure && <Loading />
      )}
    </>
  );
}

export function Loading({ text = "Loading…" }: { text?: string }) {
  return (
    <p class="loading" role="status">
      {text}
    </p>
  );
}
