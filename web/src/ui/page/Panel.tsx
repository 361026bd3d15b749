// A panel beside the page, open while an address says so. Whichever way it goes, what was in use before has the focus.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface PanelProps {
  class?: string;
  /** Asked for by Escape, the cross, or a click beside the panel. */
  close: () => void;
  heading: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ class: kind = "", close, heading, children }: PanelProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const there = useRef(true);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | SVGElement | null;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      there.current = false;
      // A dialog that was closed gave the focus back; one that is removed can't.
      if (dialog?.open) before?.focus({ preventScroll: true });
    };
  }, []);
  const shut = () => ref.current?.close();
  return (
    <dialog
      ref={ref}
      class={`panel ${kind}`}
      aria-labelledby="panel-title"
      onClose={() => there.current && close()}
      onClick={(event) => event.target === ref.current && shut()}
    >
      <div class="inner">
        <header>
          <h3 id="panel-title">{heading}</h3>
          <button type="button" class="close" onClick={shut} aria-label="Close">
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
