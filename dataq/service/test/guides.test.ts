import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsIn, runCommands } from "../../../scripts/guide-commands.ts";
import { type InProcessService, startInProcess } from "./in-process.ts";

const program = {
  name: "dataq",
  main: fileURLToPath(new URL("../src/cli/main.ts", import.meta.url)),
  ready: '"url"',
};

let service: InProcessService;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "dataq-guides-"));
  service = await startInProcess({}, { isScripted: false, vendor: true });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

describe("the commands of the guides run", () => {
  test.each(commandsIn("dataq").filter(({ runs }) => runs))("$place", async (commands) => {
    const env = {
      BASE: service.url,
      KEY: service.key,
      DATAQ_API_KEY: service.key,
      DATAQ_BASE_URL: service.url,
      DATAQ_DATA: service.folder,
    };
    await runCommands(commands, program, { home, env });
  });
});

test("the service serves its guides, and an unknown one is 404", async () => {
  const index = await service.call("/docs/guides", { key: null });
  expect(index.headers.get("content-security-policy")).toContain("default-src 'none'");
  const links = new Set([...index.text.matchAll(/href="(\/docs\/guides\/[^"#]+)/g)].map(([, link]) => link!));
  expect(links.size).toBeGreaterThan(8);
  for (const link of links) {
    const { status, text } = await service.call(link, { key: null });
    expect({ link, status }).toEqual({ link, status: 200 });
    expect(text).toContain("<h1");
  }
  expect((await service.call("/docs/guides/..%2f..%2fpackage", { key: null })).status).toBe(404);
});
