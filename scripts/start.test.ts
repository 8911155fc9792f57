import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "start-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("npm start does not start dataq if another npm start has locallm's address", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const started = join(folder, "started");
  const noteProgram = `
    import { appendFileSync } from "node:fs";
    appendFileSync(${JSON.stringify(started)}, process.argv[1] + "\\n");
  `;
  const start = spawn(process.execPath, ["scripts/start.ts"], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noteProgram)}`,
      LOCALLM_HOST: `127.0.0.1:${port}`,
      LOCALLM_MODELS: join(folder, "models"),
      DATAQ_HOST: "127.0.0.1:0",
      DATAQ_DATA: join(folder, "data"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [start.stdout, start.stderr]) output.on("data", (data) => (said += data));
  const [code] = await once(start, "exit");
  other.close();
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining("LOCALLM_HOST") });
  const programs = readFileSync(started, "utf8").trim().split("\n");
  expect(programs.map((path) => path.slice(root.length))).toEqual([
    "scripts/start.ts",
    "locallm/dist/cli/main.js",
  ]);
});
