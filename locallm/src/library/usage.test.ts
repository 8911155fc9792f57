import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ggufBytes, tinyModel } from "../../test/tiny-gguf.ts";
import { requireModelName } from "../wire/model-name.ts";
import { cleanOllamaPartials } from "./ollama-partials.ts";
import { Store } from "./store.ts";
import { checkStore } from "./store-check.ts";
import { pruneBlobs } from "./usage.ts";
import { writeWeightsModel } from "./weights.ts";

let store: Store;
beforeEach(async () => {
  store = new Store(await mkdtemp(join(tmpdir(), "locallm-usage-")));
  await mkdir(store.blobs.folder);
});
afterEach(() => rm(store.root, { recursive: true }));

const hour = 60 * 60_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hour);

test("prune removes only blobs that no model has used for an hour", async () => {
  const used = await store.blobs.writeBytes(ggufBytes(tinyModel()));
  await writeWeightsModel(store, requireModelName("kept"), [used]);
  const before = await readdir(store.blobs.folder);
  const unused = await store.blobs.writeBytes("unused");
  expect(await pruneBlobs(store, { dryRun: false, now: inHours(0.9) })).toEqual({ blobs: 0, sizeBytes: 0 });
  const all = { blobs: 1, sizeBytes: unused.sizeBytes };
  expect(await pruneBlobs(store, { dryRun: true, now: inHours(1.1) })).toEqual(all);
  expect((await readdir(store.blobs.folder)).length).toBe(before.length + 1);
  expect(await pruneBlobs(store, { dryRun: false, now: inHours(1.1) })).toEqual(all);
  expect((await readdir(store.blobs.folder)).toSorted()).toEqual(before.toSorted());
});

test("renewAge makes an unused blob count as new", async () => {
  const { digest } = await store.blobs.writeBytes("text");
  const path = store.blobs.path(digest);
  const before = await stat(path);
  let after = before;
  // File timestamps have a resolution of a few milliseconds.
  for (let tries = 0; tries < 1_000 && after.ctimeMs === before.ctimeMs; tries++) {
    expect((await store.blobs.writeBytes("text")).isNew).toBe(false);
    after = await stat(path);
  }
  const between = new Date((before.ctimeMs + after.ctimeMs) / 2 + hour);
  expect((await pruneBlobs(store, { dryRun: true, now: between })).blobs).toBe(0);
  expect(Math.round(after.mtimeMs)).toBe(Math.round(before.mtimeMs));
});

test("Ollama's unfinished downloads are not reported as damage and are removed after an idle hour", async () => {
  const file = async (name: string, restedHours: number) => {
    const path = join(store.blobs.folder, name);
    await writeFile(path, name);
    await utimes(path, inHours(-restedHours), inHours(-restedHours));
  };
  const resting = `sha256-${"a".repeat(64)}-partial`;
  const running = `sha256-${"b".repeat(64)}-partial`;
  for (const name of [resting, `${resting}-0`, `${resting}-1`]) await file(name, 2);
  await file(running, 2);
  await file(`${running}-12`, 0.5);

  expect((await checkStore(store, { readBlobs: true, repair: true })).problems).toEqual([]);
  expect((await pruneBlobs(store, { dryRun: false, now: inHours(9), patienceMs: 0 })).blobs).toBe(0);
  const found = await cleanOllamaPartials(store, { dryRun: true, now: new Date() });
  expect(found.downloads).toBe(1);
  expect((await readdir(store.blobs.folder)).length).toBe(5);
  expect(await cleanOllamaPartials(store, { dryRun: false, now: new Date() })).toEqual(found);
  expect((await readdir(store.blobs.folder)).toSorted()).toEqual([running, `${running}-12`]);
});
