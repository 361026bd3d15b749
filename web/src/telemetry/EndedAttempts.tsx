// What each run of a task used, by the node agent's record at its end.

import { formatExactTime } from "../format/dates.ts";
import { bytesText, coresOf, countText, cpuTimeOf, type Figure, gpuOf, memoryPeakOf, runTimeOf } from "./series/attempts.ts";
import type { TaskTelemetryAnswer } from "./series/model.ts";

export function EndedAttempts({ answer }: { answer: TaskTelemetryAnswer }) {
  const attempts = answer.endedAttempts;
  if (!attempts.length) return null;
  const hasGpu = attempts.some(({ gpuMemoryPeak }) => gpuMemoryPeak !== null);
  const columns = ["Run time", "CPU time", "Peak memory", "Disk read", "Disk written", "Threads", ...(hasGpu ? ["GPU memory"] : [])];
  return (
    <div class="ended-attempts" data-testid="ended-attempts">
      <h5 id="title-ended-attempts">What each run used</h5>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="title-ended-attempts">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Started</th>
              {columns.map((title) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {attempts.map((attempt) => (
              <tr key={attempt.startTime}>
                <th scope="row">{formatExactTime(Date.parse(attempt.startTime))}</th>
                <FigureCell figure={runTimeOf(attempt)} />
                <FigureCell figure={cpuTimeOf(attempt, coresOf(attempt, answer))} />
                <FigureCell figure={memoryPeakOf(attempt)} />
                <td class="number">{bytesText(attempt.readBytes)}</td>
                <td class="number">{bytesText(attempt.writtenBytes)}</td>
                <td class="number">{countText(attempt.threads)}</td>
                {hasGpu && <FigureCell figure={gpuOf(attempt)} />}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function FigureCell({ figure: { text, note } }: { figure: Figure }) {
  return (
    <td class="number">
      {text}
      {note && <small>{note}</small>}
    </td>
  );
}
