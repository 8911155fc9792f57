import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, test } from "vitest";
import { commandsIn, runCommands } from "../../../testing/guide-commands.ts";
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
