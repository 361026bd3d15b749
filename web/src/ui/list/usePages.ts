// The pages of a list that the user has opened, as paths in the API. Another first page closes them.

import { useEffect, useState } from "preact/hooks";
import { sameOriginPath } from "../../api/client.ts";

interface Pages {
  /** The path of the page to show. */
  path: string;
  /** The number of pages before it. */
  before: number;
  back: () => void;
  /** Opens the page that a page's `nextLink` names. */
  open: (nextLink: string) => void;
}

export function usePages(first: string): Pages {
  const [paging, setPaging] = useState<{ first: string; later: string[] }>({ first, later: [] });
  useEffect(() => setPaging({ first, later: [] }), [first]);
  const later = paging.first === first ? paging.later : [];
  return {
    path: later.at(-1) ?? first,
    before: later.length,
    back: () => setPaging({ first, later: later.slice(0, -1) }),
    open: (nextLink) => setPaging({ first, later: [...later, sameOriginPath(nextLink)] }),
  };
}
