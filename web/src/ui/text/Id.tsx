// Ids from outside. Long hashes in them are shortened, and a button beside them copies the whole id.

import { shortId, splitAtHashes, visible } from "../../format/text.ts";
import { Link } from "../../routing/Link.tsx";
import { ExternalText } from "./ExternalText.tsx";
import { useCopying } from "./useCopying.ts";

/** The short form alone, for places that can't hold a button. */
export function ShortId({ text }: { text: string }) {
  const short = shortId(text);
  if (short === text) return <ExternalText text={text} />;
  return (
    <span title={visible(text)}>
      <ExternalText text={short} />
    </span>
  );
}

interface IdProps {
  text: string;
  /** The address to which the id links. */
  to?: string;
  /** The class of that link or button. */
  class?: string;
  /** Makes the id a button that opens something. */
  open?: () => void;
}

export function Id({ text, to, class: kind = "", open }: IdProps) {
  const short = <ShortId text={text} />;
  return (
    <>
      {to !== undefined ? (
        <Link to={to} class={kind}>
          {short}
        </Link>
      ) : open ? (
        <button type="button" class={kind} onClick={open}>
          {short}
        </button>
      ) : (
        short
      )}
      <CopyId text={text} />
    </>
  );
}

/** A sentence, or an id, in which ids are shortened. */
export function TextWithIds({ text }: { text: string }) {
  return (
    <>
      {splitAtHashes(text).map((part, index) =>
        index % 2 ? <Id key={index} text={part} /> : part && <ExternalText key={index} text={part} />,
      )}
    </>
  );
}

const OUTCOMES = { copied: "Copied.", refused: "The browser refused." };

/** Nothing beside an id that is shown as a whole. */
function CopyId({ text }: { text: string }) {
  const { outcome, copy } = useCopying(text);
  if (shortId(text) === text) return null;
  return (
    <>
      {"\u2060"}
      <button
        type="button"
        class="copy-id"
        aria-label={`Copy the id ${visible(text)}`}
        title={outcome ? OUTCOMES[outcome] : "Copy the whole id"}
        onClick={copy}
      >
        <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          {outcome === "copied" ? <path d="M2 6.5l3 3 5-7" /> : <path d="M4.5 4.5h6v6h-6zM7.5 4.5v-3h-6v6h3" />}
        </svg>
      </button>
      <span class="unseen" role="status">
        {outcome && OUTCOMES[outcome]}
      </span>
    </>
  );
}
