// The page for an unknown address, such as a mistyped one: names the address, and links to the lists.

import { useEffect } from "preact/hooks";
import { TABS } from "./routing/routes.ts";
import { ExternalText } from "./ui/text/ExternalText.tsx";

/** Its links reload the page: relative links, as the lists have them, would keep the unknown path. */
export function PageNotFound() {
  useEffect(() => {
    document.title = "Page not found · Batchscope";
  }, []);
  return (
    <>
      <header class="top">
        <h1>
          <a href="/" class="home">
            <span class="mark" aria-hidden="true" />
            Batchscope
          </a>
        </h1>
        <nav class="tabs capital" aria-label="Lists">
          {TABS.map((tab) => (
            <a key={tab} href={tab === "jobs" ? "/" : `/?view=${tab}`}>
              {tab}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <div class="empty" data-testid="no-such-page">
          <h2>Page not found</h2>
          <p>
            No page exists at <ExternalText text={`${location.pathname}${location.search}`} />. Check the address, or open a list above.
          </p>
          <a href="/">Show all jobs</a>
        </div>
      </main>
    </>
  );
}
