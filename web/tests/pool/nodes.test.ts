import assert from "node:assert/strict";
import { test } from "node:test";
import type { MapNode, StatePeriod } from "../../src/nodes/model.ts";
import { gridOf, layersOf, nodeAt, placeOf, stepped } from "../../src/pool/nodelist/cells.ts";
import { nodesQuery } from "../../src/pool/nodelist/query.ts";
import { stretchesOf } from "../../src/pool/nodepanel/past.ts";
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
  };
}

function past(state: string | null, since: string): StatePeriod {
  return { state, since, until: null, current: false };
}

test("cells shrink as nodes grow many, and always fill the width", () => {
  assert.deepEqual(gridOf(100, 438), { columns: 20, rows: 5, size: 20, pitch: 22 });
  assert.deepEqual(
    [437, 438, 459, 460].map((width) => gridOf(100, width).columns),
    [19, 20, 20, 21],
  );
  assert.equal(gridOf(121, 438).size, 14);
  assert.equal(gridOf(5000, 438).size, 8);
});

test("no nodes have no rows, and a map that has no width yet has a column", () => {
  assert.equal(gridOf(0, 438).rows, 0);
  assert.equal(gridOf(3, 0).columns, 1);
});

test("each node is found where it stands", () => {
  const grid = gridOf(45, 438);
  for (let index = 0; index < 45; index++) {
    const { x, y } = placeOf(index, grid);
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

test("keys lead from node to node and stay within the map", () => {
  const grid = gridOf(45, 438); // rows of 20, 20 and 5
  assert.equal(stepped("ArrowRight", null, grid, 45), 0);
  assert.equal(stepped("ArrowDown", null, grid, 45), 0);
  assert.equal(stepped("ArrowLeft", 0, grid, 45), null);
  assert.equal(stepped("ArrowDown", 3, grid, 45), 23);
  assert.equal(stepped("ArrowDown", 30, grid, 45), null);
  assert.equal(stepped("ArrowUp", 3, grid, 45), null);
  assert.equal(stepped("ArrowRight", 44, grid, 45), null);
  assert.equal(stepped("End", 3, grid, 45), 44);
  assert.equal(stepped("End", null, grid, 0), null);
  assert.equal(stepped("Enter", 3, grid, 45), null);
});

test("cells of a kind are one shape, and those that filters leave out another below it", () => {
  const nodes = [node("idle"), node("running"), node("idle"), node("a new state")];
  const found = layersOf(nodes, gridOf(4, 438), ({ state }) => state !== "running");
  assert.deepEqual(
    found.map(({ group, wanted, number }) => [group, wanted, number]),
    [
      ["running", false, 1],
      ["idle", true, 2],
      ["other", true, 1],
    ],
  );
  assert.equal(found[1]?.path, "M0 0h20v20h-20zM44 0h20v20h-20z");
});

test("short rests that no poll saw are folded into the state around them", () => {
  const found = stretchesOf([
    past("running", "3"),
    past(null, "2"),
    past("running", "1"),
    past(null, "0"),
    past("running", "-1"),
  ]);
  assert.deepEqual(
    found.map(({ state, since, unseen }) => [state, since, unseen]),
    [["running", "-1", 2]],
  );
});

test("a trouble that came twice is told twice", () => {
  const found = stretchesOf([past("unusable", "3"), past(null, "2"), past("unusable", "1")]);
  assert.deepEqual(
    found.map(({ unseen }) => unseen),
    [0, 0, 0],
  );
});

test("what is told isn't changed by folding it", () => {
  const told = [past("idle", "3"), past(null, "2"), past("idle", "1")];
  stretchesOf(told);
  assert.equal(told[0]?.since, "3");
  assert.deepEqual(stretchesOf([]), []);
});

test("a list of nodes is asked for by its filters, as a page or as a table", () => {
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
