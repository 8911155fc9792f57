import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import { ConfigurationError, DataQuerySync, RateLimitError, TimeoutError } from "../src/index.ts";
import { caseKey, startScriptedServer } from "./client-case.ts";

const answer = { body: { data: [{ id: "a" }], page: 1, total_pages: 1 } };
const run = promisify(execFile);
const index = fileURLToPath(new URL("../src/index.ts", import.meta.url));
const program = `
  const client = new DataQuerySync();
  console.log(client.legal_laws({ query: "x" }).data[0].id);
`;

let server: Awaited<ReturnType<typeof startScriptedServer>>;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

test("many calls of one client each get their own answer", async () => {
  const count = isFullSize ? 1_000 : 200;
  await server.script(Array.from({ length: count }, (_, id) => ({ body: { data: [{ id }] } })));
  using client = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  const ids = Array.from({ length: count }, () => client.legal_laws({ query: "x" }).data[0]?.id);
  expect(ids).toEqual(Array.from({ length: count }, (_, id) => id));
});

test("a process exits without close()", async () => {
  await server.script([answer]);
  const source = `import { DataQuerySync } from ${JSON.stringify(index)};\n${program}`;
  const args = ["--input-type=module", "--eval", source];
  const { stdout, stderr } = await run(process.execPath, args, { env: environment(), timeout: 30_000 });
  expect(stdout).toBe("a\n");
  expect(stderr).toBe("");
});

test("a single-file bundle includes the thread", async () => {
  await server.script([answer]);
  const folder = mkdtempSync(join(tmpdir(), "dataq-client-"));
  const entry = join(folder, "program.mjs");
  writeFileSync(entry, `import { DataQuerySync } from ${JSON.stringify(index)};\n${program}`);
  const bundle = await rolldown({ input: entry, platform: "node" });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  writeFileSync(join(folder, "bundle.mjs"), output[0].code);
  const { stdout } = await run(process.execPath, [join(folder, "bundle.mjs")], { env: environment() });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe("a\n");
});

test("errors have the same class and fields as in the asynchronous client", async () => {
  await server.script([{ status: 429, headers: { "x-request-id": "req_1" }, body: { retry_after: 90 } }]);
  using client = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  try {
    client.legal_laws({ query: "x" });
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, requestId: "req_1", retryAfter: 90 });
    expect((error as RateLimitError).headers?.get("content-type")).toBe("application/json");
  }
});

test("the client works after a timeout", async () => {
  await server.script([{ hang: true }]);
  using client = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  expect(() => client.legal_laws({ query: "x" }, { timeout: 500 })).toThrow(TimeoutError);
  await server.script([answer]);
  expect(client.legal_laws({ query: "x" }).data).toHaveLength(1);
});

test("two clients do not mix their answers", async () => {
  await server.script([1, 2, 3, 4].map((id) => ({ body: { data: [{ id }] } })));
  using one = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  using two = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  const ids = [one, two, one, two].map((client) => client.legal_laws({ query: "x" }).data[0]?.id);
  expect(ids).toEqual([1, 2, 3, 4]);
});

test("a closed client throws a clear error", () => {
  const client = new DataQuerySync({ apiKey: caseKey, baseUrl: server.url });
  client.close();
  client.close();
  expect(() => client.balance()).toThrow(ConfigurationError);
});

function environment() {
  return { ...process.env, DATAQ_API_KEY: caseKey, DATAQ_BASE_URL: server.url };
}
