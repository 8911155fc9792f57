import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folder, missingModules, run } from "./python.ts";

const cases = fileURLToPath(new URL("../../cases/webhooks.json", import.meta.url));

test.skipIf(missingModules("httpx", "standardwebhooks").length > 0)(
  "verifies messages as every case says, and those of the standard's library (needs httpx and standardwebhooks from pip)",
  async () => {
    const env = { ...process.env, PYTHONPATH: join(folder, "src") };
    const { stderr } = await run("python3", [join(folder, "test", "test_webhook.py"), cases], { env });
    expect(stderr).toMatch(/^Ran 2 tests in .*\n\nOK$/m);
  },
);
