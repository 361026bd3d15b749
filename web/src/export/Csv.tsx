// A list as CSV: a plain link where one answer holds all of it, else a button that puts the parts together in one file.

import { useEffect, useRef, useState } from "preact/hooks";
import { requestCsv, sameOriginPath } from "../api/client.ts";
import { count } from "../format/numbers.ts";
import { begun } from "../format/text.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Exporting, type Progress } from "./exporting.ts";
import { WholeTable } from "./parts.ts";
import { targetFor } from "./targets.ts";

interface CsvProps {
  href: string;
  file: string;
  /** What the rows are, as "tasks". */
  of: string;
  /** Whether there may be more of them than one answer holds. */
  several: boolean;
  /** How many there are, where that is known. */
  about: number | null;
}

/** An export goes on with what it began with whatever the page is asked for, and ends when the component goes. */
export function Csv({ href, file, of, several, about }: CsvProps) {
  const { shown, begin, goOn, stop } = useExport(href);
  const main = useRef<HTMLButtonElement>(null);
  const [does, take] =
    shown?.state === "running" ? ["Stop", stop]
    : shown?.state === "failed" ? ["Resume", goOn]
    : ["CSV", () => begin(file, about)];
  const idle = does === "CSV";
  const discard = () => {
    main.current?.focus();
    stop();
  };
  return (
    <>
      <span class="export" role="status">
        {shown && <Words shown={shown} of={of} />}
      </span>
      {idle && !several ? (
        <a class="csv" href={href} download={file}>
          <span class="unseen">{begun(of)} as </span>CSV
        </a>
      ) : (
        // One button, which keeps the focus; the second click of two is meant for what it said before.
        <button type="button" class="csv" ref={main} onClick={(event) => event.detail < 2 && take()}>
          {idle && <span class="unseen">{begun(of)} as </span>}
          {does}
          {!idle && <span class="unseen"> the export of {of}</span>}
        </button>
      )}
      {shown?.state === "failed" && (
        <button type="button" class="csv" onClick={discard}>
          Discard<span class="unseen"> the export of {of}</span>
        </button>
      )}
    </>
  );
}

function Words({ shown: { state, rows, about, why }, of }: { shown: Shown; of: string }) {
  if (state === "saved") return <>{`${count(rows)} ${of} saved`}</>;
  const far = about === null ? `${count(rows)} ${of} so far` : `${count(rows)} of about ${count(about)} ${of}`;
  if (state === "running") return <>{far}</>;
  return (
    <span class="bad" data-testid="export-problem">
      {`Export stopped after ${far}. `}
      <ExternalText text={why ?? ""} />
    </span>
  );
}

interface Shown extends Progress {
  about: number | null;
}

function useExport(href: string) {
  const [shown, show] = useState<Shown | null>(null);
  const current = useRef<Exporting>(null);
  const left = useRef(false);
  const choosing = useRef(false);
  const stop = () => {
    current.current?.stop();
    current.current = null;
    show(null);
  };
  useEffect(() => show((before) => (before?.state === "saved" ? null : before)), [href]);
  useEffect(
    () => () => {
      left.current = true;
      current.current?.stop();
    },
    [],
  );
  const begin = async (file: string, about: number | null) => {
    if (choosing.current) return;
    choosing.current = true;
    const target = await targetFor(file);
    choosing.current = false;
    if (!target) return;
    const whole = new WholeTable(href, (path, signal) => requestCsv(sameOriginPath(path), signal), target);
    const exporting = new Exporting(whole, target, (progress) => show({ ...progress, about }));
    if (left.current) return exporting.stop();
    current.current = exporting;
    await exporting.goOn();
  };
  return { shown, begin, stop, goOn: () => void current.current?.goOn() };
}
