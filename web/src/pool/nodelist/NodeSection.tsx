// The nodes of a pool: all of them as a map, and a page at a time as a table.

import { useContext } from "preact/hooks";
import type { NodeCounts, Page } from "../../api/model.ts";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { CsvButton } from "../../export/CsvButton.tsx";
import { formatCount, plural } from "../../format/numbers.ts";
import { capitalized, visible } from "../../format/text.ts";
import type { Cause, Node, NodeStates } from "../../nodes/model.ts";
import { nodeTotal, sortedStates, stateLabel } from "../../nodes/stateGroups.ts";
import { Link, Navigation } from "../../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../../routing/poolView.ts";
import { Pagination } from "../../ui/list/Pagination.tsx";
import { PrefixInput } from "../../ui/list/PrefixInput.tsx";
import { useDraft } from "../../ui/list/useDraft.ts";
import { usePages } from "../../ui/list/usePages.ts";
import { Section } from "../../ui/page/Section.tsx";
import { useInView } from "../../ui/page/useInView.ts";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { ColourSelect, useHeatMap } from "../telemetry/ColourSelect.tsx";
import { HeatLegend } from "../telemetry/HeatLegend.tsx";
import { FailingNodeList } from "./FailingNodeList.tsx";
import type { FailingNodes } from "./failing.ts";
import { NodeMap } from "./NodeMap.tsx";
import { NodeTable } from "./NodeTable.tsx";
import { nodesQuery, ROWS_OF_CSV } from "./query.ts";

const MAP_INTERVAL_MS = 5_000;
const TABLE_INTERVAL_MS = 10_000;

interface NodesProps {
  view: PoolView;
  counts: NodeCounts | null;
  flapping: number | null;
  failing: FailingNodes;
  open: (node: string) => void;
}

/** The map and the table load and fail independently, and share their filters. */
export function NodeSections({ view, counts, flapping, failing, open }: NodesProps) {
  const { ref, inView } = useInView();
  const polled = usePolled<NodeStates>({
    path: pathOfPool(view, "nodestates"),
    intervalMs: MAP_INTERVAL_MS,
    enabled: inView,
  });
  const heat = useHeatMap(view, inView);
  return (
    <>
      <Section
        title="Node map"
        name="node-map"
        sectionRef={ref}
        polled={polled}
        actions={<ColourSelect view={view} enabled={inView} />}
      >
        {(states) =>
          states.nodes.length ? (
            <>
              <NodeMap states={states} view={view} heat={heat.map} failing={failing} open={open} />
              {heat.map && <HeatLegend heat={heat.map} nodes={states.nodes} />}
              {heat.problem && <p class="note map-note">{heat.problem}</p>}
              <FailingNodeList account={view.account} failing={failing} />
            </>
          ) : (
            <NoNodes view={view} counts={counts} />
          )
        }
      </Section>
      <NodeList
        view={view}
        counts={counts}
        flapping={flapping}
        failing={failing}
        causes={polled.value?.causes ?? []}
        open={open}
      />
    </>
  );
}

function NodeList({ view, counts, flapping, failing, causes, open }: NodesProps & { causes: Cause[] }) {
  const { ref, inView } = useInView();
  const first = pathOfPool(view, "nodes") + nodesQuery(view);
  const pages = usePages(first);
  const polled = usePolled<Page<Node>>({ path: pages.path, intervalMs: TABLE_INTERVAL_MS, enabled: inView });
  const next = polled.fresh && polled.value?.nextLink;
  return (
    <Section
      title="Nodes"
      name="nodes"
      sectionRef={ref}
      polled={polled}
      actions={<NodesCsv view={view} counts={counts} flapping={flapping} />}
      controls={<NodeFilterBar view={view} counts={counts} flapping={flapping} causes={causes} />}
    >
      {({ value }) => (
        <>
          {value.length ? <NodeTable nodes={value} failing={failing} open={open} /> : <NoNodes view={view} counts={counts} />}
          <Pagination
            noun="nodes"
            before={pages.before}
            fresh={polled.fresh}
            more={Boolean(next)}
            back={pages.back}
            next={() => next && pages.open(next)}
          />
        </>
      )}
    </Section>
  );
}

function NodesCsv({ view, counts, flapping }: Omit<BarProps, "causes">) {
  const limit = maxNodes({ view, counts, flapping });
  const filtered = view.state || view.cause || view.flapping || view.prefix;
  return (
    <CsvButton
      href={pathOfPool(view, "nodes") + nodesQuery(view, "csv")}
      file={`${view.pool}-nodes.csv`}
      noun="nodes"
      several={limit !== null && limit > ROWS_OF_CSV}
      about={filtered ? null : limit}
    />
  );
}

/** The most nodes that can pass the filters; null if unknown. Ignores the cause, as it may be a part of others. */
function maxNodes({ view, counts, flapping }: Omit<BarProps, "causes">): number | null {
  if (!counts) return null;
  const limits = [nodeTotal(counts)];
  if (view.state) limits.push(sortedStates(counts).find(([state]) => state === view.state)?.[1] ?? 0);
  if (view.flapping && flapping !== null) limits.push(flapping);
  return Math.min(...limits);
}

interface BarProps {
  view: PoolView;
  counts: NodeCounts | null;
  flapping: number | null;
  causes: Cause[];
}

function NodeFilterBar({ view, counts, flapping, causes }: BarProps) {
  const to = (change: Partial<PoolView>) => addressOfPoolView({ ...view, ...change });
  const states = sortedStates(counts ?? {}).filter(([state, number]) => number || state === view.state);
  if (view.state && !states.some(([state]) => state === view.state)) states.push([view.state, 0]);
  return (
    <form
      class="filters of-tasks of-nodes"
      role="search"
      aria-label="Filter nodes"
      onSubmit={(event) => event.preventDefault()}
    >
      <div class="choices" role="group" aria-label="State">
        <Link to={to({ state: "" })} current={!view.state} mode="replace">
          All {counts && <span class="much">{formatCount(nodeTotal(counts))}</span>}
        </Link>
        {states.map(([state, number]) => (
          <Link key={state} to={to({ state })} current={view.state === state} mode="replace">
            <ExternalText text={capitalized(stateLabel(state))} /> <span class="much">{formatCount(number)}</span>
          </Link>
        ))}
        {(Boolean(flapping) || view.flapping) && (
          <Link to={to({ flapping: view.flapping ? "" : "true" })} current={Boolean(view.flapping)} mode="replace">
            Flapping <span class="much">{formatCount(flapping ?? 0)}</span>
          </Link>
        )}
      </div>
      <div class="fields">
        <CauseSelect view={view} causes={causes} />
        <PrefixField view={view} />
      </div>
    </form>
  );
}

/** A select of the most frequent causes. */
function CauseSelect({ view, causes }: Pick<BarProps, "view" | "causes">) {
  const navigate = useContext(Navigation);
  if (!causes.length && !view.cause) return null;
  const known = causes.some(({ cause }) => cause === view.cause);
  return (
    <select
      name="cause"
      aria-label="Cause"
      value={view.cause}
      onChange={(event) => navigate(addressOfPoolView({ ...view, cause: event.currentTarget.value }), "replace")}
    >
      <option value="">Any cause</option>
      {!known && view.cause && <option value={view.cause}>{visible(view.cause)}</option>}
      {causes.map(({ cause, nodes }) => (
        <option key={cause} value={cause}>
          {plural(nodes, "node")}: {visible(cause)}
        </option>
      ))}
    </select>
  );
}

function PrefixField({ view }: { view: PoolView }) {
  const navigate = useContext(Navigation);
  const [draft, onInput] = useDraft(view.prefix, (prefix) =>
    navigate(addressOfPoolView({ ...view, prefix }), "replace"),
  );
  return <PrefixInput value={draft} onInput={onInput} />;
}

function NoNodes({ view, counts }: { view: PoolView; counts: NodeCounts | null }) {
  if (view.state || view.cause || view.flapping || view.prefix) {
    return (
      <p class="nothing">
        No node matches.{" "}
        <Link to={addressOfPoolView({ ...view, state: "", cause: "", flapping: "", prefix: "" })} mode="replace">
          Show all nodes
        </Link>
      </p>
    );
  }
  return (
    <p class="nothing">
      {counts ? "The pool has no nodes." : "The pool's nodes haven't been read yet."}
    </p>
  );
}
