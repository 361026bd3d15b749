// The end of a long list: how much of it is shown, and that there may be more than the page reads.

import { count } from "../../format/numbers.ts";
import { More } from "./More.tsx";

interface RestProps {
  /** "jobs". */
  of: string;
  shown: number;
  all: number;
  show: () => void;
  /** Whether the page read only a part, and what to do then; null where it read all. */
  more: string | null;
}

export function ListRest({ of, shown, all, show, more }: RestProps) {
  return (
    <>
      <More can={all > shown} take={show} words="Show more">
        Showing {count(Math.min(shown, all))} of {count(all)} {of}.
      </More>
      {more && (
        <p class="rest">
          This page doesn't load all {of}; {more}.
        </p>
      )}
    </>
  );
}
