// The end of a long list: the number of rows shown, and a note if the page doesn't load all entries.

import { formatCount } from "../../format/numbers.ts";
import { MoreButton } from "./MoreButton.tsx";

interface FooterProps {
  /** The kind of entries, such as "jobs". */
  noun: string;
  shown: number;
  all: number;
  show: () => void;
  /** The user's way to the other entries, if the page loaded only a part; null if it loaded all. */
  more: string | null;
}

export function ListFooter({ noun, shown, all, show, more }: FooterProps) {
  return (
    <>
      <MoreButton enabled={all > shown} onClick={show} label="Show more">
        Showing {formatCount(Math.min(shown, all))} of {formatCount(all)} {noun}.
      </MoreButton>
      {more && (
        <p class="rest">
          This page doesn't load all {noun}; {more}.
        </p>
      )}
    </>
  );
}
