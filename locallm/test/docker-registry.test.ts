import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createModel } from "../src/library/create.ts";
import { Store } from "../src/library/store.ts";
import { writeWeightsModel } from "../src/library/weights.ts";
import { Pulls } from "../src/sources/pulls.ts";
import type { CreateRequest } from "../src/wire/api/library.ts";
import { requireModelName } from "../src/wire/model-name.ts";
import { seeded } from "./crowd.ts";
import { dockerRegistry, faultyProxy } from "./docker-registry.ts";
import { noiseModel, pushAndPull } from "./faulty-transfers.ts";
import { createContext } from "./model-store.ts";

const registry = await dockerRegistry();
afterAll(() => registry?.stop());

test.skipIf(registry === null).each([
  ["directly", false],
  ["behind a redirect to another host", true],
])("push and pull over a faulty connection to docker-registry %s preserve the model", async (_, redirect) => {
  const weights = noiseModel(6_000_000);
  const options = { redirect, weights, partMinBytes: 1_000_000 };
  const result = await pushAndPull(registry?.host ?? "", 2, seeded(5), options);
  expect(result.problems).toEqual([]);
  expect(result.faults).toBeGreaterThan(3);
  // A failed attempt loses its buffered bytes, which are a large share of such small parts.
  expect(result.pulled).toBeLessThan(1.5);
});

test.skipIf(registry === null)(
  "mounts blobs from another repository of the registry instead of sending them again",
  async () => {
    const proxy = await faultyProxy(registry?.host ?? "", () => ({ kind: "none", at: 0 }), {
      redirect: false,
    });
    const folder = await mkdtemp(join(tmpdir(), "locallm-mount-"));
    const store = new Store(folder);
    const pulls = new Pulls(store, { network: {}, registries: null, credentials: null });
    const push = async (reference: string) => {
      const task = pulls.preparePush(requireModelName(reference), { insecure: false, credentials: null });
      await task(() => {}, new AbortController().signal);
    };
    const first = `${proxy.host}/ns/first:v`;
    const weights = noiseModel(1_000_000);
    await writeWeightsModel(store, requireModelName(first), [await store.blobs.writeBytes(weights)]);
    await push(first);
    expect(proxy.stats.pushedBytes).toBeGreaterThan(weights.length);
    const second = `${proxy.host}/ns/second:v`;
    await createModel(
      requireModelName(second),
      { from: first, system: "new" } as CreateRequest,
      createContext(store),
    );
    proxy.stats.pushedBytes = 0;
    await push(second);
    expect(proxy.stats.pushedBytes).toBeLessThan(10_000);
    pulls.close();
    await proxy.close();
    await rm(folder, { recursive: true });
  },
);
