import assert from "node:assert/strict";
import { test } from "node:test";
import type { MapNode, StatePeriod } from "../../src/nodes/model.ts";
import { STATE_GROUPS, stateGroupOf } from "../../src/nodes/stateGroups.ts";
import { cellGroups, gridOf, nextIndex, nodeAt, positionOf } from "../../src/pool/nodelist/cells.ts";
import { nodesQuery } from "../../src/pool/nodelist/query.ts";
import { foldedHistory } from "../../src/pool/nodepanel/foldedHistory.ts";
import { readPoolView } from "../../src/routing/poolView.ts";
import { goTo, parametersOf } from "../address.ts";

function node(state: string): MapNode {
  return {
    id: "n",
    state,
    stateTransitionTime: null,
    isDedicated: true,
    runningTasks: 0,
    flapping: false,
    cause: null,
    vmSize: null,
  };
}

function period(state: string | null, since: string): StatePeriod {
  return { state, since, until: null, current: false };
}

test("cells shrink as nodes become many, and always fill the width", () => {
  assert.deepEqual(gridOf(100, 438), { columns: 20, rows: 5, size: 20, pitch: 22 });
  assert.deepEqual(
    [437, 438, 459, 460].map((width) => gridOf(100, width).columns),
    [19, 20, 20, 21],
  );
  assert.equal(gridOf(121, 438).size, 14);
  assert.equal(gridOf(5000, 438).size, 8);
});

test("without nodes there are no rows, and a map without a width has one column", () => {
  assert.equal(gridOf(0, 438).rows, 0);
  assert.equal(gridOf(3, 0).columns, 1);
});

test("each node is found at its position", () => {
  const grid = gridOf(45, 438);
  for (let index = 0; index < 45; index++) {
    const { x, y } = positionOf(index, grid);
    assert.equal(nodeAt(x + 1, y + 1, grid, 45), index);
  }
});

test("beside, above and below the cells there is no node", () => {
  const grid = gridOf(45, 450);
  for (const [x, y] of [
    [-1, 5],
    [5, -1],
    [grid.columns * grid.pitch + 1, 5],
    [430, 47],
    [5, 900],
  ] as const) {
    assert.equal(nodeAt(x, y, grid, 45), null, `${x},${y}`);
  }
});

test("keys move from node to node and stay within the map", () => {
  const grid = gridOf(45, 438); // rows of 20, 20 and 5
  assert.equal(nextIndex("ArrowRight", null, grid, 45), 0);
  assert.equal(nextIndex("ArrowDown", null, grid, 45), 0);
  assert.equal(nextIndex("ArrowLeft", 0, grid, 45), null);
  assert.equal(nextIndex("ArrowDown", 3, grid, 45), 23);
  assert.equal(nextIndex("ArrowDown", 30, grid, 45), null);
  assert.equal(nextIndex("ArrowUp", 3, grid, 45), null);
  assert.equal(nextIndex("ArrowRight", 44, grid, 45), null);
  assert.equal(nextIndex("End", 3, grid, 45), 44);
  assert.equal(nextIndex("End", null, grid, 0), null);
  assert.equal(nextIndex("Enter", 3, grid, 45), null);
});

test("cells of a group are one shape, and those that don't match the filters another below it", () => {
  const nodes = [node("idle"), node("running"), node("idle"), node("a new state")];
  const wanted = ({ state }: MapNode) => state !== "running";
  const found = cellGroups(nodes, gridOf(4, 438), wanted, STATE_GROUPS, ({ state }) => stateGroupOf(state));
  assert.deepEqual(
    found.map(({ group, matching, number }) => [group, matching, number]),
    [
      ["running", false, 1],
      ["idle", true, 2],
      ["other", true, 1],
    ],
  );
  assert.equal(found[1]?.path, "M0 0h20v20h-20zM44 0h20v20h-20z");
});

test("short idle times that no poll recorded are folded into the state around them", () => {
  const found = foldedHistory([
    period("running", "3"),
    period(null, "2"),
    period("running", "1"),
    period(null, "0"),
    period("running", "-1"),
  ]);
  assert.deepEqual(
    found.map(({ state, since, unseen }) => [state, since, unseen]),
    [["running", "-1", 2]],
  );
});

test("an unhealthy state that occurred twice is listed twice", () => {
  const found = foldedHistory([period("unusable", "3"), period(null, "2"), period("unusable", "1")]);
  assert.deepEqual(
    found.map(({ unseen }) => unseen),
    [0, 0, 0],
  );
});

test("folding doesn't change the history that it is given", () => {
  const history = [period("idle", "3"), period(null, "2"), period("idle", "1")];
  foldedHistory(history);
  assert.equal(history[0]?.since, "3");
  assert.deepEqual(foldedHistory([]), []);
});

test("a list of nodes is requested with its filters, as a page or as CSV", () => {
  goTo("?account=scope&pool=gpu&state=idle&cause=disk+full&node=n1&charts=6h");
  const view = readPoolView("scope", "gpu");
  assert.deepEqual(parametersOf(nodesQuery(view)), { maxpagesize: "15", state: "idle", cause: "disk full" });
  assert.deepEqual(parametersOf(nodesQuery(view, "csv")), {
    format: "csv",
    maxpagesize: "1000",
    state: "idle",
    cause: "disk full",
  });
});
