// What an event says. Where that names its job, task, pool and node they are links; those that it doesn't name follow.

import type { ComponentChildren } from "preact";
import { visible } from "../format/text.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail, addressOfJob } from "../routing/routes.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Subject } from "./EventList.tsx";
import type { EventLine } from "./model.ts";

interface SentenceProps {
  account: string;
  event: EventLine;
  subject: Subject;
}

interface Way {
  name: keyof Subject;
  id: string;
  to: string;
}

interface Place extends Way {
  /** Where its name begins and ends in the sentence. */
  begin: number;
  end: number;
}

export function Sentence({ account, event, subject }: SentenceProps) {
  const ways = waysOf(account, event);
  const named = placesOf(event.summary, ways);
  const others = ways.filter(({ name }) => !subject[name] && !named.some((place) => place.name === name));
  return (
    <div class="what">
      <p>{withLinks(event.summary, named)}</p>
      {others.length > 0 && (
        <p class="ways">
          {others.map((way) => (
            <span key={way.name}>
              {way.name} <WayThere way={way} />
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

/** A task has its panel on the page of its job, a node on that of its pool. */
function waysOf(account: string, { jobId: job, taskId: task, poolId: pool, nodeId: node }: EventLine): Way[] {
  const ways: Way[] = [];
  if (job) ways.push({ name: "job", id: job, to: addressOfJob(account, job) });
  if (job && task) ways.push({ name: "task", id: task, to: addressOfJob(account, job, task) });
  if (pool) ways.push({ name: "pool", id: pool, to: addressOfDetail("pools", account, pool) });
  if (pool && node) ways.push({ name: "node", id: node, to: addressOfDetail("pools", account, pool, { node }) });
  return ways;
}

/** Where the sentence first names each, as "task 'id'"; in order, and none within another. */
function placesOf(sentence: string, ways: Way[]): Place[] {
  const lower = sentence.toLowerCase();
  const found = ways.flatMap((way) => {
    const at = lower.indexOf(`${way.name} '${way.id.toLowerCase()}'`);
    const begin = at + way.name.length + 2;
    return at < 0 ? [] : [{ ...way, begin, end: begin + way.id.length }];
  });
  found.sort((one, other) => one.begin - other.begin);
  return found.filter((place, index) => index === 0 || place.begin >= (found[index - 1]?.end ?? 0));
}

function withLinks(sentence: string, places: Place[]): ComponentChildren {
  const ends = [0, ...places.map(({ end }) => end)];
  return (
    <>
      {places.map((place, index) => (
        <>
          <ExternalText text={sentence.slice(ends[index], place.begin)} />
          <WayThere way={place} />
        </>
      ))}
      <ExternalText text={sentence.slice(ends.at(-1))} />
    </>
  );
}

/** Names of nodes are long, and mostly not for reading: the rest of one shows while it has the focus. */
const LONGEST_NODE = 20;

function WayThere({ way: { name, id, to } }: { way: Way }) {
  const isCut = name === "node" && id.length > LONGEST_NODE + 2;
  return (
    <span class={`way of-${name}`} title={visible(id)}>
      <Link to={to}>
        <ExternalText text={isCut ? id.slice(0, LONGEST_NODE) : id} />
        {isCut && (
          <span class="cut">
            <ExternalText text={id.slice(LONGEST_NODE)} />
          </span>
        )}
      </Link>
    </span>
  );
}
