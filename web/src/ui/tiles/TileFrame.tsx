// The frame of an account's tile, with the account's name and the age of its data.

import type { ComponentChildren } from "preact";
import type { Account } from "../../api/model.ts";
import { Age } from "../text/Age.tsx";
import { ExternalText } from "../text/ExternalText.tsx";

interface FrameProps {
  account: Account;
  single: boolean;
  chosen: boolean;
  toggle: () => void;
  /** The as-of of the tile's data; null if it wasn't read yet, undefined if there is nothing to read. */
  asOf: string | null | undefined;
  /** Whether parts of the data are later than `asOf`. */
  orLater?: boolean;
  children: ComponentChildren;
}

/** With several accounts, the name is a button that chooses the account. */
export function TileFrame({ account, single, chosen, toggle, asOf, orLater, children }: FrameProps) {
  return (
    <article class="tile" data-account={account.id} data-chosen={chosen && !single}>
      <header>
        <h2>
          {single ? (
            <ExternalText text={account.name} />
          ) : (
            <button type="button" aria-pressed={chosen} onClick={toggle}>
              <ExternalText text={account.name} />
            </button>
          )}
          {account.region && <small>{account.region}</small>}
        </h2>
        <p class="fresh" data-testid="fresh">
          {asOf && (
            <>
              as of <Age at={asOf} />
              {orLater && " or later"},{" "}
            </>
          )}
          {asOf === null && "not read yet, "}
          {account.enabled ? `polled every ${account.pollSeconds} s` : "monitoring is off"}
        </p>
      </header>
      {children}
    </article>
  );
}
