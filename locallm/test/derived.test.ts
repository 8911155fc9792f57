import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DerivedWeights, derivedFolder, removeDerived } from "../src/library/derived.ts";
import { detailsFromHeader, headerOf } from "../src/library/model-details.ts";
import { Store } from "../src/library/store.ts";
import { quantizeInChild } from "../src/runner/quantize.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { createModelStore, type ModelStore } from "./model-store.ts";
import { command } from "./server-process.ts";
import { smallEncoder, smallSpec } from "./small-llama.ts";
import { ggufBytes } from "./tiny-gguf.ts";

let models: ModelStore;
let store: Store;
beforeAll(async () => {
  models = await createModelStore();
  store = new Store(models.folder);
  for (const [name, spec] of Object.entries({ encoder: smallEncoder(3), text: smallSpec("llama", 4) })) {
    const path = join(models.folder, `${name}.gguf`);
    await writeFile(path, ggufBytes(spec));
    const files = { "model.gguf": await models.put(path) };
    await models.derive(name, { files });
    await models.derive(`${name}:f16`, { files, quantize: "f16" });
  }
});
afterAll(() => models.remove());

const problems: unknown[] = [];
const started = (more: { isFaster?: boolean; pause?: (signal: AbortSignal) => Promise<void> } = {}) =>
  new DerivedWeights({
    ...{ store, quantizer: quantizeInChild, availableBytes: () => 2 ** 33, isFaster: true },
    ...{ pause: async () => {}, onMade: () => {}, onProblem: (error) => problems.push(error), ...more },
  });
const found = async (name: string) => (await store.find(requireModelName(name)))!;
const asked = async (derived: DerivedWeights, name: string) => {
  const model = await found(name);
  const path = await derived.pathFor(model, (await headerOf(store, model))!);
  await derived.idle();
  return path;
};
const made = () => readdir(derivedFolder(store)).catch(() => []);

it("makes a BF16 file of an embedding model in F16 once, and leaves the model as it is", async () => {
  const derived = started();
  const before = await found("encoder:f16");
  expect(await asked(derived, "encoder:f16")).toBeNull();
  const path = (await asked(derived, "encoder:f16"))!;
  expect(path).toBe(join(derivedFolder(store), `${basename(before.modelPaths[0]!)}-bf16.gguf`));
  expect(detailsFromHeader(await store.headers.of(path)).file_type).toBe("BF16");
  expect((await found("encoder:f16")).digest).toBe(before.digest);
  const { ino } = await stat(path);
  expect(await asked(started(), "encoder:f16")).toBe(path);
  expect((await stat(path)).ino).toBe(ino);
  expect(await readdir(store.blobs.partialFolder)).toEqual([]);
  expect(problems).toEqual([]);
});

it("makes none of other types and kinds, and none where it would not be faster", async () => {
  const derived = started();
  for (const name of ["encoder", "text", "text:f16"]) expect(await asked(derived, name)).toBeNull();
  expect(await asked(started({ isFaster: false }), "encoder:f16")).toBeNull();
  expect(await made()).toHaveLength(1);
});

it("is counted by df and removed by prune, or when its model is gone", async () => {
  const env = { LOCALLM_MODELS: models.folder };
  const [name = ""] = await made();
  expect((await command(["df"], env)).out).toMatch(/^Faster files made of models: \d+ KB\.$/m);
  expect((await command(["prune", "--dry-run"], env)).out).toMatch(/^would remove 1 faster file of models /m);
  expect(await removeDerived(store, { dryRun: false, onlyOrphans: true })).toMatchObject({ files: 0 });
  const orphan = join(derivedFolder(store), `sha256-${"0".repeat(64)}-bf16.gguf`);
  await writeFile(orphan, await readFile(join(derivedFolder(store), name)));
  expect(await removeDerived(store, { dryRun: false, onlyOrphans: true })).toMatchObject({ files: 1 });
  expect(await made()).toEqual([name]);
  await command(["prune"], env);
  expect(await made()).toEqual([]);
});

it("leaves nothing of a work that ends early, and says why a work failed", async () => {
  const waiting = Promise.withResolvers<void>();
  const closing = started({
    pause: (signal) => {
      signal.addEventListener("abort", () => waiting.reject(signal.reason), { once: true });
      return waiting.promise;
    },
  });
  const model = await found("encoder:f16");
  expect(await closing.pathFor(model, (await headerOf(store, model))!)).toBeNull();
  await closing.close();
  expect([await made(), problems]).toEqual([[], []]);
  await rm(derivedFolder(store), { recursive: true, force: true });
  // A file stands where the folder has to be.
  await writeFile(derivedFolder(store), "");
  await asked(started(), "encoder:f16");
  expect(problems).toHaveLength(1);
});
