// Puts a text into the clipboard, and reports for a moment whether that worked.

import { useEffect, useState } from "preact/hooks";

type Outcome = "copied" | "refused";

/** The outcome of the last copy; another text has none. */
interface Copied {
  text: string;
  outcome: Outcome;
}

const SHOWN_MS = 3_000;

/** Copies the text, or what `read` returns for it. */
export function useCopying(text: string, read?: () => Promise<Blob>): { outcome: Outcome | null; copy: () => Promise<void> } {
  const [copied, setCopied] = useState<Copied | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setCopied(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied({ text, outcome: await outcomeOf(text, read) });
  return { outcome: copied?.text === text ? copied.outcome : null, copy };
}

/** Browsers have no clipboard for pages that came without encryption, and may refuse it. */
async function outcomeOf(text: string, read?: () => Promise<Blob>): Promise<Outcome> {
  try {
    // Some browsers refuse a text that comes after a wait, but take a promise of one.
    if (read) await navigator.clipboard.write([new ClipboardItem({ "text/plain": read() })]);
    else await navigator.clipboard.writeText(text);
    return "copied";
  } catch {
    return "refused";
  }
}
