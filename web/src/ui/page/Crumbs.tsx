// Which account a thing belongs to and what it is called: the heading of a page about one thing.

import { useContext, useEffect, useRef } from "preact/hooks";
import { visible } from "../../format/text.ts";
import { Link, Navigation } from "../../routing/Link.tsx";
import { addressOfList, type Tab } from "../../routing/routes.ts";
import { ExternalText } from "../text/ExternalText.tsx";

interface CrumbsProps {
  tab: Tab;
  account: string;
  id: string;
  name: string;
}

export function Crumbs({ tab, account, id, name }: CrumbsProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="crumbs">
      <nav aria-label="Breadcrumb">
        <Link to={addressOfList(tab, { account })}>
          <ExternalText text={account} />
        </Link>
        <span aria-hidden="true">/</span>
      </nav>
      <h2 ref={heading} tabIndex={-1} data-testid={`${name}-heading`}>
        <ExternalText text={id} />
      </h2>
    </div>
  );
}

/** Titles the page, and leads back to the list on Escape unless that closes something nearer. */
export function usePageOf(id: string, back: string): void {
  const navigate = useContext(Navigation);
  useEffect(() => {
    document.title = `${visible(id)} · Batchscope`;
    const leave = (event: KeyboardEvent) => {
      const busy = event.target instanceof HTMLInputElement || document.querySelector("dialog[open], .tip");
      if (event.key === "Escape" && !event.defaultPrevented && !busy) navigate(back);
    };
    window.addEventListener("keydown", leave);
    return () => window.removeEventListener("keydown", leave);
  }, [id, back]);
}
