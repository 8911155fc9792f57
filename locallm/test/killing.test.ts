import { expect, test } from "vitest";
import { seeded } from "./crowd.ts";
import { killAmidChanges, killAmidPulls } from "./killing.ts";

test("a server killed in the midst of changes loses nothing that it had answered for", async () => {
  const { problems, hits } = await killAmidChanges(4, seeded(1));
  expect([problems, hits]).toEqual([[], 4]);
});

test("a server killed in the midst of a pull goes on with the next one", async () => {
  const { problems } = await killAmidPulls(2, seeded(2));
  expect(problems).toEqual([]);
});
