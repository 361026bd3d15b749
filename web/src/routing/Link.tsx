// Links within the page: real addresses that open without a reload, and in another tab when asked to.

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";

/**
 * Shows an address of this page. "replace" leaves no step to come back to; "back" takes the step back where that is
 * where one came from, and otherwise replaces.
 */
export type Go = (address: string, how?: "push" | "replace" | "back") => void;

export const Going = createContext<Go>(() => {});

interface LinkProps {
  to: string;
  class?: string;
  current?: boolean;
  label?: string;
  how?: "push" | "replace";
  children: ComponentChildren;
}

export function Link({ to, class: kind, current, label, how, children }: LinkProps) {
  const go = useContext(Going);
  const follow = (event: MouseEvent) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to, how);
  };
  return (
    <a href={to} class={kind} onClick={follow} aria-current={current ? "true" : undefined} aria-label={label}>
      {children}
    </a>
  );
}
