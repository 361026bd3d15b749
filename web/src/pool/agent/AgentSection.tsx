// The node agent of a pool: which nodes report, and the start task to copy. Loads when it is opened.

import { useContext } from "preact/hooks";
import { Navigation } from "../../routing/Link.tsx";
import { addressOfPoolView, type PoolView } from "../../routing/poolView.ts";
import { useInView } from "../../ui/page/useInView.ts";
import { AgentNodeList } from "./AgentNodeList.tsx";
import { isOpen } from "./agentView.ts";
import { StartTaskForms } from "./StartTaskForms.tsx";

const CONTENTS = "agent-contents";

interface AgentSectionProps {
  view: PoolView;
  /** Of the pool's start task; empty without one. */
  commandLine: string;
  /** Opens a node's panel. */
  openNode: (node: string) => void;
}

export function AgentSection({ view, commandLine, openNode }: AgentSectionProps) {
  const navigate = useContext(Navigation);
  const { ref, inView } = useInView();
  const open = isOpen(view, commandLine);
  const toggle = () => navigate(addressOfPoolView({ ...view, agent: open ? "hide" : "show" }), "replace");
  return (
    <section class="part-of-job card node-agent" ref={ref} aria-labelledby="title-agent" data-section="agent">
      <header>
        <h3 id="title-agent">Node agent</h3>
        <p class="note">measures nodes and tasks</p>
        <div class="actions">
          <button
            type="button"
            class="csv"
            aria-expanded={open}
            aria-controls={open ? CONTENTS : undefined}
            aria-label={`${open ? "Hide" : "Show"} node agent`}
            onClick={toggle}
          >
            {open ? "Hide" : "Show"}
          </button>
        </div>
      </header>
      {open && (
        <div id={CONTENTS}>
          <AgentNodeList view={view} enabled={inView} openNode={openNode} />
          <StartTaskForms view={view} enabled={inView} />
        </div>
      )}
    </section>
  );
}
