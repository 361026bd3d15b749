// A text to copy: a block of code with a button that puts it into the clipboard.

import { useEffect, useState } from "preact/hooks";
import { ExternalLines } from "./ExternalText.tsx";

const SHOWN_MS = 3_000;

interface CopyTextProps {
  /** Names the block and the button. */
  label: string;
  text: string;
}

export function CopyText({ label, text }: CopyTextProps) {
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setOutcome(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  useEffect(() => setOutcome(""), [text]);
  const copy = async () => setOutcome(await copied(text));
  return (
    <div class="copy-text">
      <pre aria-label={label} tabIndex={0}>
        <ExternalLines text={text} />
      </pre>
      <p class="copy">
        <button type="button" class="csv" onClick={copy} aria-label={`Copy: ${label}`}>
          Copy
        </button>
        <span role="status">{outcome}</span>
      </p>
    </div>
  );
}

/** Browsers have no clipboard for pages that came without encryption, and may refuse it. */
async function copied(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied.";
  } catch {
    return "The browser refused: select the text and copy it.";
  }
}
