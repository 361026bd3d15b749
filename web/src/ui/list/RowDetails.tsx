// Details below the id in a row of a list, such as the display name; empty ones are omitted.

import { visible } from "../../format/text.ts";
import { ExternalText } from "../text/ExternalText.tsx";

export function RowDetails({ parts }: { parts: (string | null | false)[] }) {
  const known = parts.filter((part) => typeof part === "string" && part !== "") as string[];
  if (!known.length) return null;
  return (
    <small class="aside" title={visible(known.join(" · "))}>
      {known.map((part) => (
        <span key={part}>
          <ExternalText text={part} />
        </span>
      ))}
    </small>
  );
}
