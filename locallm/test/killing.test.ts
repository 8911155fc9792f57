import { expect, test } from "vitest";
import { seeded } from "./crowd.ts";
import { killAmidChanges, killAmidPulls } from "./killing.ts";
import { killAmidConversations } from "./killing-conversations.ts";

test("a server killed during changes loses nothing that it had confirmed", async () => {
  const { problems, hits } = await killAmidChanges(2, seeded(1));
  expect([problems, hits]).toEqual([[], 2]);
});

test("a pull interrupted by a killed server is resumed by the next pull", async () => {
  const { problems } = await killAmidPulls(2, seeded(2));
  expect(problems).toEqual([]);
});

test("a server killed while it writes conversations leaves only whole files", async () => {
  const { problems, files } = await killAmidConversations(2, seeded(3), 40);
  expect(problems).toEqual([]);
  expect(files).toBeGreaterThanOrEqual(4);
});
