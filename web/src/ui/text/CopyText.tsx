// A text to copy: a block of code with a button that puts it into the clipboard.

import { ExternalLines } from "./ExternalText.tsx";
import { useCopying } from "./useCopying.ts";

const OUTCOMES = { copied: "Copied.", refused: "The browser refused: select the text and copy it." };

interface CopyTextProps {
  /** Names the block and the button. */
  label: string;
  text: string;
}

export function CopyText({ label, text }: CopyTextProps) {
  const { outcome, copy } = useCopying(text);
  return (
    <div class="copy-text">
      <pre aria-label={label} tabIndex={0}>
        <ExternalLines text={text} />
      </pre>
      <p class="copy">
        <button type="button" class="csv" onClick={copy} aria-label={`Copy: ${label}`}>
          Copy
        </button>
        <span role="status">{outcome && OUTCOMES[outcome]}</span>
      </p>
    </div>
  );
}
