// Nodes' time that has no price, by VM size, with the API's sentences about the reason.

import { ExternalText } from "../ui/text/ExternalText.tsx";
import { wordsOf } from "./amounts/groups.ts";
import type { Unpriced } from "./amounts/model.ts";
import { hoursText } from "./amounts/texts.ts";

export function UnpricedList({ unpriced }: { unpriced: readonly Unpriced[] }) {
  const entries = [...unpriced].sort((one, other) => other.seconds - one.seconds);
  return (
    <ul class="cost-unpriced" data-testid="unpriced">
      {entries.map(({ vmSize, dedicated, seconds, reason, detail }) => (
        <li key={`${vmSize} ${dedicated} ${reason}`}>
          <b>
            <ExternalText text={vmSize || wordsOf("vmSize").unnamed} />
          </b>{" "}
          {dedicated ? "dedicated" : "spot"}, {hoursText(seconds)}: <ExternalText text={detail} />
        </li>
      ))}
    </ul>
  );
}
