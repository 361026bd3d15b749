// Links within the page: they have real addresses, open without a reload, and in another browser tab on request.

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";

/**
 * Opens an address of this page. "replace" adds no entry to the browser's history. "back" goes back if the previous
 * entry has this address, and otherwise replaces.
 */
export type Navigate = (address: string, mode?: "push" | "replace" | "back") => void;

export const Navigation = createContext<Navigate>(() => {});

interface LinkProps {
  to: string;
  class?: string;
  current?: boolean;
  label?: string;
  mode?: "push" | "replace";
  children: ComponentChildren;
}

export function Link({ to, class: kind, current, label, mode, children }: LinkProps) {
  const navigate = useContext(Navigation);
  const onClick = (event: MouseEvent) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to, mode);
  };
  return (
    <a href={to} class={kind} onClick={onClick} aria-current={current ? "true" : undefined} aria-label={label}>
      {children}
    </a>
  );
}
