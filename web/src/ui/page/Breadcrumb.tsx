// The heading of a detail page: the account, as a link to the list, and the id.

import { useContext, useEffect, useRef } from "preact/hooks";
import { visible } from "../../format/text.ts";
import { Link, Navigation } from "../../routing/Link.tsx";
import { addressOfList, type Tab } from "../../routing/routes.ts";
import { ExternalText } from "../text/ExternalText.tsx";
import { Id } from "../text/Id.tsx";

interface BreadcrumbProps {
  tab: Tab;
  account: string;
  id: string;
  name: string;
}

export function Breadcrumb({ tab, account, id, name }: BreadcrumbProps) {
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
        <Id text={id} />
      </h2>
    </div>
  );
}

/** Sets the document's title; Escape returns to the list, unless it closes a panel or a tooltip. */
export function useDetailPage(id: string, back: string): void {
  const navigate = useContext(Navigation);
  useEffect(() => {
    document.title = `${visible(id)} · Batchscope`;
    const onKeyDown = (event: KeyboardEvent) => {
      const busy = event.target instanceof HTMLInputElement || document.querySelector("dialog[open], .tip");
      if (event.key === "Escape" && !event.defaultPrevented && !busy) navigate(back);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [id, back]);
}
