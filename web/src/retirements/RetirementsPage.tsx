// The page of what Azure retires: the earliest first, with the pools concerned and what to use instead.

import { useEffect, useState } from "preact/hooks";
import { usePolled } from "../api/usePolled.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail, addressOfList, readRoute } from "../routing/routes.ts";
import { Shell } from "../ui/page/Shell.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { type ConcernedPool, daysText, pathOf, poolText, type RetirementEntry, type RetirementsAnswer, urgencyOf } from "./model.ts";

const INTERVAL_MS = 60_000;
const MAX_POOLS = 20; // named until all are wanted

export function RetirementsPage() {
  const { account } = readRoute();
  const [all, setAll] = useState(false);
  const path = pathOf(account, all);
  const polled = usePolled<RetirementsAnswer>({ path, intervalMs: INTERVAL_MS });
  const { value, failure, retry } = polled;
  useEffect(() => {
    document.title = "Retirements · Batchscope";
  }, []);
  const entries = value?.value ?? [];
  const shown = all ? entries : entries.filter(isConcerning);
  return (
    <Shell tab="retirements" account={account} result={{ value: value?.value ?? null, failure }} retry={retry}>
      {!value && !failure && <p class="empty">Loading…</p>}
      {value && (
        <section class="part-of-job card retirements" aria-labelledby="title-retirements">
          <header>
            <h3 id="title-retirements">What Azure retires{account && " and this account uses"}</h3>
            <p class="note">{plural(shown.length, "announcement")}</p>
            <div class="actions">
              {account && <Link to={addressOfList("retirements", {})}>all accounts</Link>}
              <label>
                <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> also
                those that concern nothing here
              </label>
              <a class="csv" href={`${path}&format=csv`} download="retirements.csv" aria-label="Retirements as CSV">
                CSV
              </a>
            </div>
          </header>
          {value.unknownImages.map(({ account: named, reason }) => (
            <p key={named} class="nothing" data-testid="unknown-images">
              Ends of images of <ExternalText text={named} /> may be missing: <ExternalText text={reason} />
            </p>
          ))}
          {shown.length ? (
            <ol data-testid="retirements">
              {shown.map((entry) => (
                <Entry key={`${entry.id} ${entry.lastDay} ${entry.what}`} entry={entry} />
              ))}
            </ol>
          ) : (
            <p class="nothing">Nothing that is used here is announced as retired.</p>
          )}
        </section>
      )}
    </Shell>
  );
}

function isConcerning({ pools, unknownPools, concernsApp }: RetirementEntry): boolean {
  return pools.length > 0 || unknownPools > 0 || concernsApp;
}

function Entry({ entry }: { entry: RetirementEntry }) {
  const { id, what, lastDay, effect, instead, source, readOn, pools, unknownPools, concernsApp } = entry;
  return (
    <li data-retirement={id} data-urgency={urgencyOf(entry)}>
      <p class="when">
        <b>{daysText(entry)}</b> {lastDay && <time dateTime={lastDay}>{lastDay}</time>}
      </p>
      <div>
        <h4>
          <ExternalText text={what} />
        </h4>
        <p>
          <ExternalText text={effect} /> Use instead: <ExternalText text={instead} />
        </p>
        {concernsApp && <p>This Batchscope uses it itself.</p>}
        <Pools pools={pools} />
        {unknownPools > 0 && (
          <p class="soft">
            Not known of {plural(unknownPools, "pool")}: sizes or settings weren't read, or the image is the user's own.
          </p>
        )}
        <p class="soft">
          <a href={source} rel="noreferrer">
            Announcement
          </a>{" "}
          as read on {readOn}
        </p>
      </div>
    </li>
  );
}

function Pools({ pools }: { pools: ConcernedPool[] }) {
  const [whole, setWhole] = useState(false);
  if (!pools.length) return null;
  const shown = whole ? pools : pools.slice(0, MAX_POOLS);
  return (
    <ul class="concerned">
      {shown.map((pool) => (
        <li key={`${pool.account}/${pool.id}`}>
          <Link to={addressOfDetail("pools", pool.account, pool.id)}>
            <ExternalText text={pool.id} />
          </Link>{" "}
          <small>
            {pool.account} · {poolText(pool)}
          </small>
        </li>
      ))}
      {shown.length < pools.length && (
        <li>
          <button type="button" class="link" onClick={() => setWhole(true)}>
            {formatCount(pools.length - shown.length)} more
          </button>
        </li>
      )}
    </ul>
  );
}
