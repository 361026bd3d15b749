// What pages of one job, pool or schedule have in common: they load, they fail, and there may be no such thing.

import type { ComponentChildren } from "preact";
import type { Watched } from "./job/watching";
import { Link } from "./Link";
import { Outside } from "./Outside";
import { Problem } from "./Problem";

interface TopProps<T> {
  watched: Watched<T>;
  /** "pool". */
  name: string;
  children: (value: T) => ComponentChildren;
}

/** That the server doesn't answer at all is told above the page. */
export function Top<T>({ watched: { value, failure, retry }, name, children }: TopProps<T>) {
  return (
    <>
      {failure?.message != null && <Problem failure={failure} retry={retry} name={name} />}
      {value ? (
        <div class={failure ? "outdated" : ""}>{children(value)}</div>
      ) : (
        !failure && <p class={`loading card ${name}-loading`}>Loading…</p>
      )}
    </>
  );
}

interface NotThereProps {
  name: string;
  message: string;
  /** The list as it was left. */
  back: string;
}

export function NotThere({ name, message, back }: NotThereProps) {
  return (
    <div class="empty" data-testid={`no-such-${name}`}>
      <h3>There is no such {name}</h3>
      <p>
        <Outside text={message} />
      </p>
      <Link to={back}>Show all {name}s</Link>
    </div>
  );
}
