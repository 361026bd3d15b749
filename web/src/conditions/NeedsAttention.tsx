// What needs attention in all accounts, or in one, the worst first, each with a link to what it is about.

import { usePolled } from "../api/usePolled.ts";
import { Link } from "../routing/Link.tsx";
import { FindingDetails } from "../ui/findings/FindingDetails.tsx";
import { TitledCard } from "../ui/page/TitledCard.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { ShortId } from "../ui/text/Id.tsx";
import { addressOf, type Cause, causesOf, keyOf } from "./attention.ts";
import type { Conditions } from "./model.ts";

const INTERVAL_MS = 10_000;

export function NeedsAttention({ account }: { account: string }) {
  const of = account ? `&account=${encodeURIComponent(account)}` : "";
  const { value, failure } = usePolled<Conditions>({ path: `/api/conditions?state=firing${of}`, intervalMs: INTERVAL_MS });
  if (!value && !failure) return null;
  const causes = causesOf(value?.value ?? []);
  return (
    <TitledCard title="Needs attention" name="attention" note={causes.length ? String(causes.length) : undefined}>
      <div class="attention">
        {failure && <p>What needs attention isn't up to date: it couldn't be loaded.</p>}
        {value && !causes.length && !value.unevaluated.length && <p>Nothing does at present.</p>}
        {value?.unevaluated.map(({ account: name, reason }) => (
          <p key={name}>
            <ExternalText text={`${name}: ${reason}`} />
          </p>
        ))}
        <ul>
          {causes.map((cause) => (
            <CauseLine key={keyOf(cause.condition.account, cause.condition)} cause={cause} />
          ))}
        </ul>
        {value !== null && value.leftOut > 0 && <p>{value.leftOut} more aren't listed.</p>}
      </div>
    </TitledCard>
  );
}

function CauseLine({ cause: { condition, following } }: { cause: Cause }) {
  const { account, kind, id, since, unknown, finding } = condition;
  return (
    <li data-rule={condition.rule}>
      <FindingDetails account={account} finding={{ ...finding, since }} open={false} />
      <p class="soft">
        <Link to={addressOf(condition)} label={`Open the ${kind} ${id}`}>
          {kind} <ShortId text={id} />
        </Link>
        {following > 0 && ` · ${following} more ${following === 1 ? "follows" : "follow"} from it`}
        {unknown && (
          <>
            {" · not known at present: "}
            <ExternalText text={unknown} />
          </>
        )}
      </p>
    </li>
  );
}
