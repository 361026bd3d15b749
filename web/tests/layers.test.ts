// The allowed imports between folders of src: a folder imports lower layers, never its own or a higher one.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

/** The lowest layer first; "" is for modules outside folders, which put the pages together. */
const LAYERS = [
  ["format", "time"],
  ["api", "routing"],
  ["ui"],
  ["charts", "export", "nodes"],
  ["conditions", "cost", "events", "quotas", "retirements"],
  ["telemetry"],
  ["files"],
  ["job", "jobs", "pool", "schedule"],
  ["pools"],
  [""],
];
const MOST_MODULES = 16;
const SRC = resolve(import.meta.dirname, "../src");

/** The imports of each module, as paths within src. */
const MODULES = new Map(modulesOf().map((module) => [module, importsOf(module)]));

function modulesOf(): string[] {
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).filter((entry) =>
    /\.tsx?$/.test(entry.name),
  );
  return files.map(({ parentPath, name }) => relative(SRC, join(parentPath, name)).replaceAll("\\", "/")).sort();
}

function importsOf(module: string): string[] {
  const text = readFileSync(join(SRC, module), "utf-8");
  const found = text.matchAll(/^(?:import|export|\}) (?:[^;]*? )?from "(\.[^"]+)";/gm);
  return [...found].map(([, to = ""]) => join(dirname(module), to).replaceAll("\\", "/"));
}

function folderOf(module: string): string {
  return dirname(module).replace(/^\.$/, "");
}

function layerOf(module: string): number {
  const [top = ""] = folderOf(module).split("/");
  return LAYERS.findIndex((folders) => folders.includes(top));
}

test("imports were found, and each names a module that is there", () => {
  const all = [...MODULES.values()].flat();
  assert.ok(all.length > 400);
  assert.deepEqual(
    all.filter((module) => !MODULES.has(module)),
    [],
  );
});

test("every folder has a layer", () => {
  assert.deepEqual(
    [...MODULES.keys()].filter((module) => layerOf(module) < 0),
    [],
  );
});

test("imports run one way", () => {
  const wrong = [...MODULES].flatMap(([module, imports]) =>
    imports.filter((to) => !runsDown(module, to)).map((to) => `${module} imports ${to}`),
  );
  assert.deepEqual(wrong, []);
});

function runsDown(module: string, to: string): boolean {
  const [here, there] = [folderOf(module).split("/")[0], folderOf(to).split("/")[0]];
  return here === there || layerOf(to) < layerOf(module);
}

test("no folder imports another that leads back to it", () => {
  const reached = new Map<string, Set<string>>();
  for (const [module, imports] of MODULES) {
    const here = folderOf(module);
    const others = imports.map(folderOf).filter((folder) => folder !== here);
    reached.set(here, new Set([...(reached.get(here) ?? []), ...others]));
  }
  assert.deepEqual(
    [...reached.keys()].filter((folder) => leadsBack(folder, reached)),
    [],
  );
});

function leadsBack(folder: string, reached: Map<string, Set<string>>): boolean {
  const seen = new Set<string>();
  const open = [...(reached.get(folder) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === folder) return true;
    if (!seen.has(next)) open.push(...(reached.get(next) ?? []));
    seen.add(next);
  }
  return false;
}

test(`a folder holds ${MOST_MODULES} modules at most`, () => {
  const sizes = new Map<string, number>();
  for (const module of MODULES.keys()) sizes.set(folderOf(module), (sizes.get(folderOf(module)) ?? 0) + 1);
  assert.deepEqual(
    [...sizes].filter(([, size]) => size > MOST_MODULES),
    [],
  );
});
