// The tasks on which a task depends, with links to those that are named.

import { plural } from "../../format/numbers.ts";
import { addressOfJobView, type JobView } from "../../routing/jobView.ts";
import { Id } from "../../ui/text/Id.tsx";
import type { Dependencies } from "./model.ts";

const SHOWN = 20;

interface DependencyListProps {
  view: JobView;
  dependsOn: Dependencies | null;
}

export function DependencyList({ view, dependsOn }: DependencyListProps) {
  const ids = dependsOn?.taskIds ?? [];
  const ranges = dependsOn?.taskIdRanges ?? [];
  if (!ids.length && !ranges.length) return null;
  return (
    <section class="depends-on" data-testid="depends-on" aria-labelledby="title-depends-on">
      <h4 id="title-depends-on">Depends on</h4>
      <ul>
        {ids.slice(0, SHOWN).map((id) => (
          <li key={id}>
            <Id text={id} to={addressOfJobView({ ...view, task: id })} />
          </li>
        ))}
        {ids.length > SHOWN && <li class="soft">{plural(ids.length - SHOWN, "more task")}</li>}
        {ranges.map(({ start, end }) => (
          <li key={`${start} ${end}`}>
            tasks {start} to {end}
          </li>
        ))}
      </ul>
    </section>
  );
}
