// An account's tile on the list of pools: nodes by state, and their usage.

import { useContext } from "preact/hooks";
import type { Account } from "../api/model.ts";
import { formatCount, formatRate, plural, statesText } from "../format/numbers.ts";
import { NodeBar, NodeLegend } from "../nodes/NodeBar.tsx";
import { nodeTotal } from "../nodes/stateGroups.ts";
import { coresText, slotsText } from "../nodes/summaries.ts";
import { Navigation } from "../routing/Link.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import { TileFrame } from "../ui/tiles/TileFrame.tsx";
import { addressOfPools, type PoolFilters } from "./filters.ts";
import { TrafficLine } from "./TrafficLine.tsx";

interface TileProps {
  account: Account;
  single: boolean;
  filters: PoolFilters;
}

export function PoolsTile({ account, single, filters }: TileProps) {
  const navigate = useContext(Navigation);
  const chosen = filters.account === account.id;
  const toggle = () => navigate(addressOfPools({ ...filters, account: chosen ? "" : account.id }));
  const asOf = account.pools?.total === 0 ? undefined : (account.pools?.asOf ?? null);
  return (
    <TileFrame {...{ account, single, chosen, toggle, asOf }} orLater>
      <Numbers account={account} />
      <NodeBar counts={account.nodeCounts} />
      {account.nodeCounts && <NodeLegend counts={account.nodeCounts} />}
      <TrafficLine account={account.id} />
      <footer>
        <Unread account={account} />
      </footer>
    </TileFrame>
  );
}

/** The pools that the numbers don't include, and the reason of the last failed poll. */
function Unread({ account: { pools, poolsReason } }: { account: Account }) {
  return (
    <>
      {Boolean(pools?.notRead) && <span data-testid="unread">{plural(pools?.notRead ?? 0, "pool")} not read yet</span>}
      {poolsReason && (
        <span class="bad" data-testid="reason">
          The last poll of pools failed: <ExternalText text={poolsReason} />
        </span>
      )}
    </>
  );
}

function Numbers({ account: { pools, nodeCounts, slots, cores, unknownCores } }: { account: Account }) {
  return (
    <dl class="numbers of-pools">
      <KeyFigure name="Pools" value={pools && formatCount(pools.total)} detail={statesText(pools?.byState ?? {})} />
      <KeyFigure name="Nodes" value={nodeCounts && formatCount(nodeTotal(nodeCounts))} />
      <KeyFigure
        name="Cores busy"
        value={cores && formatRate(cores.busy)}
        detail={
          (cores ? coresText(cores) : "") +
          (unknownCores ? `; cores of ${plural(unknownCores, "node")} unknown` : "")
        }
      />
      <KeyFigure
        name="Slots used"
        value={slots && formatCount(slots.used)}
        detail={slots ? slotsText(slots) : ""}
      />
    </dl>
  );
}
