// The frame of every page: the name, the tabs, the connection status, and the contents.

import type { ComponentChildren } from "preact";
import type { PollResult } from "../../api/poller.ts";
import { Link } from "../../routing/Link.tsx";
import { addressOfList, TABS, type Tab } from "../../routing/routes.ts";
import { Banner, ConnectionStatus } from "./Banner.tsx";

interface ShellProps {
  tab: Tab;
  /** The chosen account, which the links to other lists keep; "" for all. */
  account: string;
  /** On a detail page, the address at which its list was left. */
  back?: string;
  result: PollResult<unknown>;
  /** Whether the page shows errors that the server sent; the banner omits them then. */
  showsErrors?: boolean;
  retry: () => void;
  children: ComponentChildren;
}

export function Shell({ tab, account, back, result, showsErrors, retry, children }: ShellProps) {
  const { value, failure } = result;
  const shown = showsErrors && failure?.message !== null ? null : failure;
  return (
    <>
      <header class="top">
        <h1>
          <Link to="./" class="home">
            <span class="mark" aria-hidden="true" />
            Batchscope
          </Link>
        </h1>
        <nav class="tabs capital" aria-label="Lists">
          {TABS.map((each) => (
            <Link key={each} to={(each === tab && back) || addressOfList(each, { account })} current={each === tab}>
              {each}
            </Link>
          ))}
        </nav>
        <ConnectionStatus result={result} />
      </header>
      {shown && <Banner failure={shown} retry={retry} />}
      <main class={shown && value ? "outdated" : ""} aria-busy={!value && !failure}>
        {children}
      </main>
    </>
  );
}
