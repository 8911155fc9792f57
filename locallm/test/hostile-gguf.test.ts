import { expect, test } from "vitest";
import { runCampaign } from "./hostile-gguf.ts";
import { startServer } from "./server-process.ts";

test("hostile GGUF files get clear errors; neither server nor runner crashes, and memory stays flat (more: npm run proof -- hostile-gguf)", async () => {
  const server = await startServer({ hasSmallHeap: true });
  const result = await runCampaign(server, { count: 100, loads: 4, seed: 1 });
  expect(result).toMatchObject({ files: 100, crashes: [], unclear: [] });
  expect(result.refused).toBeGreaterThan(35);
  expect(result.loaded).toBe(4);
  expect(result.memoryGrowthMiB).toBeLessThan(64);
  expect((await fetch(`${server.url}/api/version`)).status).toBe(200);
  await server.stop();
});
