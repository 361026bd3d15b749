// A panel beside the page, open while the address names it. When it closes, the focus returns to the previous element.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface PanelProps {
  class?: string;
  /** Called on Escape, the close button, or a click beside the panel. */
  close: () => void;
  heading: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ class: kind = "", close, heading, children }: PanelProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const mounted = useRef(true);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | SVGElement | null;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      mounted.current = false;
      // A closing dialog returns the focus itself; a removed one can't.
      if (dialog?.open) before?.focus({ preventScroll: true });
    };
  }, []);
  const closeDialog = () => ref.current?.close();
  return (
    <dialog
      ref={ref}
      class={`panel ${kind}`}
      aria-labelledby="panel-title"
      onClose={() => mounted.current && close()}
      onClick={(event) => event.target === ref.current && closeDialog()}
    >
      <div class="inner">
        <header>
          <h3 id="panel-title">{heading}</h3>
          <button type="button" class="close" autofocus onClick={closeDialog} aria-label="Close">
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
