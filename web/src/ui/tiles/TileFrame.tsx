// The frame of an account's tile: whose it is and how fresh.

import type { ComponentChildren } from "preact";
import type { Account } from "../../api/model.ts";
import { Age } from "../text/Age.tsx";
import { ExternalText } from "../text/ExternalText.tsx";

interface FrameProps {
  account: Account;
  single: boolean;
  chosen: boolean;
  toggle: () => void;
  /** Of what the tile tells, be it jobs, pools or schedules; null where it wasn't read, undefined if it can't be. */
  asOf: string | null | undefined;
  /** Some of it is later than that. */
  orLater?: boolean;
  children: ComponentChildren;
}

/** Whose tile it is and how fresh; where there are several accounts its name chooses it. */
export function TileFrame({ account, single, chosen, toggle, asOf, orLater, children }: FrameProps) {
  return (
    <article class="tile" data-account={account.id} data-chosen={chosen}>
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
