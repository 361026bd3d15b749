// What frames every page: the name, the ways to the lists, how alive the page is, and its contents.

import type { ComponentChildren } from "preact";
import type { PollResult } from "../../api/poller.ts";
import { Link } from "../../routing/Link.tsx";
import { addressOfList, TABS, type Tab } from "../../routing/routes.ts";
import { Banner, Liveness } from "./Banner.tsx";

interface ShellProps {
  tab: Tab;
  /** The account that is chosen, which the other lists show too; "" for all. */
  account: string;
  /** The list as it was left, on the page of something in it. */
  back?: string;
  result: PollResult<unknown>;
  /** Whether the page itself tells what the server refused. */
  tells?: boolean;
  retry: () => void;
  children: ComponentChildren;
}

export function Shell({ tab, account, back, result, tells, retry, children }: ShellProps) {
  const { value, failure } = result;
  const shown = tells && failure?.message !== null ? null : failure;
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
        <Liveness result={result} />
      </header>
      {shown && <Banner failure={shown} retry={retry} />}
      <main class={shown && value ? "outdated" : ""} aria-busy={!value && !failure}>
        {children}
      </main>
    </>
  );
}
