// A finding, collapsed or open: severity, title and since when; sentence, advice and evidence.

import { Age } from "../text/Age.tsx";
import { CopyText } from "../text/CopyText.tsx";
import { ExternalText } from "../text/ExternalText.tsx";
import { ShortId, TextWithIds } from "../text/Id.tsx";
import { commandsOf } from "./commands.ts";
import { EvidenceList } from "./EvidenceList.tsx";
import type { Finding, Severity } from "./model.ts";

const SEVERITY_LABELS: Record<Severity, string> = { blocking: "Blocking", limiting: "Limiting", info: "Note" };

interface FindingDetailsProps {
  account: string;
  finding: Finding;
  open: boolean;
}

export function FindingDetails({ account, finding, open }: FindingDetailsProps) {
  const commands = commandsOf(finding.advice);
  const Advice = commands.length ? ShortId : ExternalText; // the commands below have whole ids
  return (
    <details class="finding" open={open} data-code={finding.code} data-severity={finding.severity}>
      <summary>
        <span class="weight">{SEVERITY_LABELS[finding.severity]}</span>
        <strong>
          <ShortId text={finding.title} />
        </strong>
        {finding.since && (
          <span class="soft">
            since <Age at={finding.since} />
          </span>
        )}
      </summary>
      <p>
        <TextWithIds text={finding.detail} />
      </p>
      <p class="advice">
        <b>What to do:</b> <Advice text={finding.advice} />
      </p>
      {commands.map((command) => (
        <CopyText key={command} label="Command" text={command} />
      ))}
      <EvidenceList account={account} finding={finding} />
    </details>
  );
}
