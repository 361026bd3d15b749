// Numbers of tasks by state on a tile.

import { TASK_STATES, type TaskCounts, type TaskState } from "../../api/model.ts";
import { Figure, Swatch, TaskStateName } from "./StateBar.tsx";

interface FiguresProps {
  counts: TaskCounts | null;
  /** The tile's subject, such as "job", which names the test ids. */
  name: string;
  /** A detail below a number, such as its share; without it there is no line for details. */
  detailOf?: (state: TaskState) => string;
}

export function TaskStateFigures({ counts, name, detailOf }: FiguresProps) {
  return (
    <>
      {TASK_STATES.map((state) => (
        <div key={state}>
          <dt class="capital">
            <Swatch state={state} />
            <TaskStateName state={state} long />
          </dt>
          <dd data-testid={`${name}-${state}`}>
            <Figure value={counts?.[state]} />
          </dd>
          {detailOf && <dd class="detail">{detailOf(state)}</dd>}
        </div>
      ))}
    </>
  );
}
