import { afterAll, expect, test } from "vitest";
import { seeded } from "./crowd.ts";
import { dockerRegistry } from "./docker-registry.ts";
import { pushAndPull } from "./faulty-transfers.ts";

const registry = await dockerRegistry();
afterAll(() => registry?.stop());

test.skipIf(registry === null)(
  "against docker-registry, over a line that breaks, what is pushed and pulled again is the same",
  async () => {
    const result = await pushAndPull(registry?.host ?? "", 4, seeded(5), 6_000_000);
    expect(result.problems).toEqual([]);
    expect(result.faults).toBeGreaterThan(3);
  },
);
