// How many nodes of each kind a pool has, and where that differs how many it is to have.

import { count } from "../format/numbers.ts";
import type { Size } from "../pool/model.ts";

/** "10 → 12 dedicated, 4 spot": current and, where it differs, target. */
export function Sizes({ dedicated, spot }: { dedicated: Size; spot: Size }) {
  const told = ([["dedicated", dedicated], ["spot", spot]] as const).filter(
    ([, { current, target }]) => current || target,
  );
  if (!told.length) return <span class="zero">0</span>;
  return (
    <>
      {told.map(([name, { current, target }]) => (
        <span key={name} class="size" data-size={name}>
          <b>{count(current)}</b>
          {target !== null && target !== current && (
            <>
              <span aria-hidden="true"> → </span>
              <span class="unseen"> of </span>
              <b class="target">{count(target)}</b>
            </>
          )}{" "}
          <small>{name}</small>
        </span>
      ))}
    </>
  );
}
