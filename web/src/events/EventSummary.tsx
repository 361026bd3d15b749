// The summary of an event. Names of its job, task, pool and node are links; objects that it doesn't name follow.

import type { ComponentChildren } from "preact";
import { addressOfDetail, addressOfJob } from "../routing/routes.ts";
import { Id, TextWithIds } from "../ui/text/Id.tsx";
import type { Subject } from "./EventList.tsx";
import type { BatchEvent } from "./model.ts";

interface EventSummaryProps {
  account: string;
  event: BatchEvent;
  subject: Subject;
}

interface ObjectLink {
  name: keyof Subject;
  id: string;
  to: string;
}

interface LinkPosition extends ObjectLink {
  /** Offsets of the id in the sentence. */
  begin: number;
  end: number;
}

export function EventSummary({ account, event, subject }: EventSummaryProps) {
  const links = linksOf(account, event);
  const named = positionsOf(event.summary, links);
  const others = links.filter(({ name }) => !subject[name] && !named.some((position) => position.name === name));
  return (
    <div class="event-summary">
      <p>{withLinks(event.summary, named)}</p>
      {others.length > 0 && (
        <p class="links">
          {others.map((link) => (
            <span key={link.name}>
              {link.name} <EventLink link={link} />
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

/** A task's panel is on the page of its job, a node's on the page of its pool. */
function linksOf(account: string, { jobId: job, taskId: task, poolId: pool, nodeId: node }: BatchEvent): ObjectLink[] {
  const links: ObjectLink[] = [];
  if (job) links.push({ name: "job", id: job, to: addressOfJob(account, job) });
  if (job && task) links.push({ name: "task", id: task, to: addressOfJob(account, job, task) });
  if (pool) links.push({ name: "pool", id: pool, to: addressOfDetail("pools", account, pool) });
  if (pool && node) links.push({ name: "node", id: node, to: addressOfDetail("pools", account, pool, { node }) });
  return links;
}

/** The first place where the sentence names each object, as "task 'id'"; in order, without overlaps. */
function positionsOf(sentence: string, links: ObjectLink[]): LinkPosition[] {
  const lower = sentence.toLowerCase();
  const found = links.flatMap((link) => {
    const at = lower.indexOf(`${link.name} '${link.id.toLowerCase()}'`);
    const begin = at + link.name.length + 2;
    return at < 0 ? [] : [{ ...link, begin, end: begin + link.id.length }];
  });
  found.sort((one, other) => one.begin - other.begin);
  return found.filter((position, index) => index === 0 || position.begin >= (found[index - 1]?.end ?? 0));
}

function withLinks(sentence: string, positions: LinkPosition[]): ComponentChildren {
  const ends = [0, ...positions.map(({ end }) => end)];
  return (
    <>
      {positions.map((position, index) => (
        <>
          <TextWithIds text={sentence.slice(ends[index], position.begin)} />
          <EventLink link={position} />
        </>
      ))}
      <TextWithIds text={sentence.slice(ends.at(-1))} />
    </>
  );
}

function EventLink({ link: { name, id, to } }: { link: ObjectLink }) {
  return (
    <span class={`link of-${name}`}>
      <Id text={id} to={to} />
    </span>
  );
}
