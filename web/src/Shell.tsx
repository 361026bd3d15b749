// What frames every page: the name, how alive the page is, and its contents.

import type { ComponentChildren } from "preact";
import { Banner, Liveness } from "./Banner";
import { Link } from "./Link";
import type { Reading } from "./poller";

interface ShellProps {
  reading: Reading<unknown>;
  retry: () => void;
  children: ComponentChildren;
}

export function Shell({ reading, retry, children }: ShellProps) {
  const { value, failure } = reading;
  return (
    <>
      <header class="top">
        <h1>
          <Link to="./" class="home">
            <span class="mark" aria-hidden="true" />
            Batchscope
          </Link>
        </h1>
        <Liveness reading={reading} />
      </header>
      {failure && <Banner failure={failure} retry={retry} />}
      <main class={failure && value ? "outdated" : ""} aria-busy={!value && !failure}>
        {children}
      </main>
    </>
  );
}
