// JSON as a list of names and values. Redacted parts are marked as such.

import type { Json } from "../../api/model.ts";
import { formatExactTime } from "../../format/dates.ts";
import { spacedWords, visible } from "../../format/text.ts";
import { ExternalText } from "./ExternalText.tsx";

const REDACTED = "[redacted]";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const LONG = 60;
/** The longest duration, by which Batch means no limit. */
const FOREVER = "P10675199D";
/** Labels of properties that Batchscope adds, and of names that aren't made of words. */
const LABELS = new Map([
  ["dynamicVNetAssignmentScope", "dynamic VNet assignment scope"],
  ["eTag", "ETag"],
  ["nodeUrl", "node URL"],
  ["taskRootDirectoryUrl", "task root directory URL"],
  ["url", "URL"],
  ["cached", "in the stored counts"],
  ["cachedAsOf", "stored counts as of"],
  ["omittedProperties", "omitted properties"],
]);

export function Fields({ value }: { value: Record<string, Json> }) {
  const entries = Object.entries(value).filter(([, each]) => each !== null && !isEmpty(each));
  return (
    <dl class="fields-of">
      {entries.map(([name, each]) => (
        <div key={name} class={isWide(each) ? "wide-field" : ""} data-field={name}>
          <dt>
            <ExternalText text={LABELS.get(name) ?? spacedWords(name)} />
          </dt>
          <dd>
            {each === -1 && name.startsWith("max") ? "no limit" : <Value value={each} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: Json }) {
  if (typeof value === "string") return <FieldText text={value} />;
  if (value === null || typeof value !== "object") return <>{String(value)}</>;
  if (!Array.isArray(value)) return <Fields value={value} />;
  return (
    <ul>
      {value.map((each, index) => (
        <li key={index}>{environmentSetting(each) ?? <Value value={each} />}</li>
      ))}
    </ul>
  );
}

/** An environment setting, as NAME = value. */
function environmentSetting(value: Json) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { name, value: set, ...rest } = value;
  if (typeof name !== "string" || Object.keys(rest).length) return null;
  return (
    <>
      <code>
        <ExternalText text={name} />
      </code>{" "}
      = {typeof set === "string" ? <FieldText text={set} /> : <span class="zero">not set</span>}
    </>
  );
}

export function FieldText({ text }: { text: string }) {
  if (!text) return <span class="zero">empty</span>;
  if (text.startsWith(FOREVER)) return <span title={visible(text)}>no limit</span>;
  if (TIME.test(text)) {
    return (
      <time dateTime={text} title={text}>
        {formatExactTime(Date.parse(text))}
      </time>
    );
  }
  const parts = text.split(REDACTED);
  const content = parts.map((part, index) => (
    <span key={index}>
      {index > 0 && (
        <mark class="redacted" title="A secret was removed">
          redacted
        </mark>
      )}
      {part && <ExternalText text={part} />}
    </span>
  ));
  return text.length > LONG ? <code class="block">{content}</code> : content;
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function isWide(value: Json): boolean {
  return typeof value === "object" || (typeof value === "string" && value.length > LONG);
}
