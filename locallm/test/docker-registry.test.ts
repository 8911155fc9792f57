import { afterAll, expect, test } from "vitest";
import { seeded } from "./crowd.ts";
import { dockerRegistry } from "./docker-registry.ts";
import { noiseModel, pushAndPull } from "./faulty-transfers.ts";

const registry = await dockerRegistry();
afterAll(() => registry?.stop());

test.skipIf(registry === null).each([
  ["directly", false],
  ["behind a redirect to another host", true],
])(
  "against docker-registry %s, over a line that breaks, what is pushed and pulled again is the same",
  async (_, redirect) => {
    const weights = noiseModel(6_000_000);
    const options = { redirect, weights, partMinBytes: 1_000_000 };
    const result = await pushAndPull(registry?.host ?? "", 2, seeded(5), options);
    expect(result.problems).toEqual([]);
    expect(result.faults).toBeGreaterThan(3);
    // A try that breaks loses what lay in buffers; of such small parts that is much.
    expect(result.pulled).toBeLessThan(1.5);
  },
);
