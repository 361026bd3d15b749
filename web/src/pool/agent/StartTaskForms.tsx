// The start task that runs the agent on a pool, as text to copy in three forms, and the agent's file.

import { useState } from "preact/hooks";
import { pathOfPool } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import type { PoolView } from "../../routing/poolView.ts";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { CopyText } from "../../ui/text/CopyText.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import type { AgentOffer, StartTaskForm } from "./model.ts";

const INTERVAL_MS = 300_000;
const FORMS: [StartTaskForm, string, string][] = [
  ["bicep", "Bicep", "Declarations for the Bicep file of the pool."],
  ["azBatch", "az batch", "Save it as a file for “az batch pool set --json-file”. The pool must have the identity already."],
  ["python", "Python with a SAS", "A program for pools without an identity. It keeps the rest of the start task."],
];

export function StartTaskForms({ view, enabled }: { view: PoolView; enabled: boolean }) {
  const polled = usePolled<AgentOffer>({ path: pathOfPool(view, "agent"), intervalMs: INTERVAL_MS, enabled });
  return (
    <section class="start-task-forms" aria-labelledby="title-agent-start-task">
      <h4 id="title-agent-start-task">Start task with the agent</h4>
      <PolledContents polled={polled} name="agent" title="Start task with the agent">
        {(offer) => <Offer offer={offer} />}
      </PolledContents>
    </section>
  );
}

function Offer({ offer: { file, forms, notes } }: { offer: AgentOffer }) {
  const [shown, show] = useState<StartTaskForm>("bicep");
  return (
    <>
      <ul class="agent-notes" data-testid="agent-notes">
        {notes.map((note) => (
          <li key={note}>
            <ExternalText text={note} />
          </li>
        ))}
      </ul>
      <div class="choices" role="group" aria-label="Form of the start task">
        {FORMS.map(([form, title]) => (
          <button key={form} type="button" aria-pressed={form === shown} onClick={() => show(form)}>
            {title}
          </button>
        ))}
      </div>
      {FORMS.filter(([form]) => form === shown).map(([form, title, use]) => (
        <div key={form} data-form={form}>
          <p class="soft">{use}</p>
          <CopyText label={`Start task as ${title}`} text={forms[form]} />
        </div>
      ))}
      <p class="soft agent-file" data-testid="agent-file">
        Agent <ExternalText text={file.version} />
        {file.uploaded ? "" : ", which storage doesn't have yet"}: <ExternalText text={file.address} />, SHA-256{" "}
        <code>
          <ExternalText text={file.sha256} />
        </code>
      </p>
    </>
  );
}
