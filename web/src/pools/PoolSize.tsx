// The current and, if it differs, the target number of a pool's dedicated and spot nodes.

import { formatCount } from "../format/numbers.ts";
import { type Size, usedSizes } from "../pool/model.ts";

/** "10 → 12 dedicated, 4 spot". */
export function PoolSize({ dedicated, spot }: { dedicated: Size; spot: Size }) {
  const sizes = usedSizes(dedicated, spot);
  if (!sizes.length) return <span class="zero">0</span>;
  return (
    <>
      {sizes.map(([name, { current, target }]) => (
        <span key={name} class="size" data-size={name}>
          <b>{formatCount(current)}</b>
          {target !== null && target !== current && (
            <>
              <span aria-hidden="true"> → </span>
              <span class="unseen"> of </span>
              <b class="target">{formatCount(target)}</b>
            </>
          )}{" "}
          <small>{name}</small>
        </span>
      ))}
    </>
  );
}
