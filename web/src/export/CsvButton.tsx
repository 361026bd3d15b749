// Exports a list as CSV: a link if one response holds all rows, otherwise a button that joins several responses.

import { useEffect, useRef, useState } from "preact/hooks";
import { requestCsv, sameOriginPath } from "../api/client.ts";
import { formatCount } from "../format/numbers.ts";
import { capitalized } from "../format/text.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { CsvExport, type Progress } from "./csvExport.ts";
import { CsvParts } from "./csvParts.ts";
import { chooseTarget } from "./csvTargets.ts";

interface CsvButtonProps {
  href: string;
  file: string;
  /** The kind of rows, such as "tasks". */
  noun: string;
  /** Whether there may be more rows than one response holds. */
  several: boolean;
  /** The number of rows, if known. */
  about: number | null;
}

/** A running export keeps the list that it began with; it ends when the component unmounts. */
export function CsvButton({ href, file, noun, several, about }: CsvButtonProps) {
  const { status, begin, resume, stop } = useExport(href);
  const main = useRef<HTMLButtonElement>(null);
  const [label, onClick] =
    status?.state === "running" ? ["Stop", stop]
    : status?.state === "failed" ? ["Resume", resume]
    : ["CSV", () => begin(file, about)];
  const isIdle = label === "CSV";
  const discard = () => {
    main.current?.focus();
    stop();
  };
  return (
    <>
      <span class="export" role="status">
        {status && <StatusText status={status} noun={noun} />}
      </span>
      {isIdle && !several ? (
        <a class="csv" href={href} download={file}>
          <span class="unseen">{capitalized(noun)} as </span>CSV
        </a>
      ) : (
        // One button for all actions, so that it keeps the focus. It ignores the second click of a double click.
        <button type="button" class="csv" ref={main} onClick={(event) => event.detail < 2 && onClick()}>
          {isIdle && <span class="unseen">{capitalized(noun)} as </span>}
          {label}
          {!isIdle && <span class="unseen"> the export of {noun}</span>}
        </button>
      )}
      {status?.state === "failed" && (
        <button type="button" class="csv" onClick={discard}>
          Discard<span class="unseen"> the export of {noun}</span>
        </button>
      )}
    </>
  );
}

function StatusText({ status: { state, rows, about, reason }, noun }: { status: ExportStatus; noun: string }) {
  if (state === "saved") return <>{`${formatCount(rows)} ${noun} saved`}</>;
  const progress = about === null ? `${formatCount(rows)} ${noun} so far` : `${formatCount(rows)} of about ${formatCount(about)} ${noun}`;
  if (state === "running") return <>{progress}</>;
  return (
    <span class="bad" data-testid="export-problem">
      {`Export stopped after ${progress}. `}
      <ExternalText text={reason ?? ""} />
    </span>
  );
}

interface ExportStatus extends Progress {
  about: number | null;
}

function useExport(href: string) {
  const [status, setStatus] = useState<ExportStatus | null>(null);
  const current = useRef<CsvExport>(null);
  const unmounted = useRef(false);
  const isChoosing = useRef(false);
  const stop = () => {
    current.current?.stop();
    current.current = null;
    setStatus(null);
  };
  useEffect(() => setStatus((before) => (before?.state === "saved" ? null : before)), [href]);
  useEffect(
    () => () => {
      unmounted.current = true;
      current.current?.stop();
    },
    [],
  );
  const begin = async (file: string, about: number | null) => {
    if (isChoosing.current) return;
    isChoosing.current = true;
    const target = await chooseTarget(file);
    isChoosing.current = false;
    if (!target) return;
    const parts = new CsvParts(href, (path, signal) => requestCsv(sameOriginPath(path), signal), target);
    const csvExport = new CsvExport(parts, target, (progress) => setStatus({ ...progress, about }));
    if (unmounted.current) return csvExport.stop();
    current.current = csvExport;
    await csvExport.resume();
  };
  return { status, begin, stop, resume: () => void current.current?.resume() };
}
