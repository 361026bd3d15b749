// The cursor of a chart: which of its steps the pointer or the keys have chosen.

interface ChartCursor {
  cursor: number | null;
  /** The first and the last step that the cursor may have. */
  first: number;
  last: number;
  /** The steps of PageUp and PageDown. */
  page: number;
  point: (index: number | null) => void;
  /** Returns the step at a horizontal position in the chart. */
  stepAt: (offsetX: number) => number;
}

/** Returns the properties of a chart's element that move its cursor, as of a slider. */
export function cursorProps({ cursor, first, last, page, point, stepAt }: ChartCursor) {
  const move = (index: number) => point(Math.max(first, Math.min(last, index)));
  const onPointer = (event: PointerEvent) => move(stepAt(event.offsetX));
  const onKeyDown = (event: KeyboardEvent) => {
    const here = cursor ?? last;
    const targets: Record<string, number> = {
      ArrowLeft: here - (cursor === null ? 0 : 1),
      ArrowRight: here + 1,
      PageUp: here - page,
      PageDown: here + page,
      Home: first,
      End: last,
    };
    const target = targets[event.key];
    if (target !== undefined) move(target);
    else if (event.key === "Escape" && cursor !== null) point(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clear = () => point(null);
  return {
    tabIndex: 0,
    role: "slider" as const,
    "aria-valuemin": first,
    "aria-valuemax": Math.max(first, last),
    "aria-valuenow": cursor ?? Math.max(first, last),
    onPointerMove: onPointer,
    onPointerDown: onPointer,
    onPointerLeave: clear,
    onBlur: clear,
    onKeyDown,
  };
}
