import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { settingsOf } from "./releases/home.ts";
import { command, startServerHere, until } from "./server-process.ts";

const releases = new URL("releases/", import.meta.url);
const supported = readdirSync(releases).filter((name) => name.endsWith(".tar.gz"));

// What a release wrote; releases/make.ts made it. Remove a file when its release is no longer supported.
test.each(supported)("what locallm stored as %s opens", async (file) => {
  const home = await mkdtemp(join(tmpdir(), "locallm-oldest-"));
  execFileSync("tar", ["-xzf", fileURLToPath(new URL(file, releases)), "-C", home]);
  const { key, asked, generated, response, digest } = JSON.parse(
    readFileSync(join(home, "expected.json"), "utf8"),
  );
  const env = settingsOf(home);
  const counted = () => {
    const { usage } = JSON.parse(readFileSync(join(home, "keys/usage.json"), "utf8")) as {
      usage: Record<string, { total: { requests: number } }>;
    };
    return Object.values(usage).map(({ total }) => total.requests);
  };
  const [before = 0] = counted();
  expect(before).toBeGreaterThan(2);
  const server = await startServerHere({ env, models: env["LOCALLM_MODELS"]! });
  try {
    const headers = { authorization: `Bearer ${key}` };
    const get = async (path: string) => asAnswer(await fetch(server.url + path, { headers }));
    const post = async (path: string, body: object) => asAnswer(await server.post(path, body, { headers }));
    expect((await fetch(`${server.url}/api/tags`)).status).toBe(401);
    // The key may see these models only.
    expect((await get("/api/tags")).models).toMatchObject([{ name: "small:old", digest }]);
    expect(await post("/api/show", { model: "small:old" })).toMatchObject({
      system: "You answer in 中文.",
      template: "{{ .System }} {{ .Prompt }} {{ .Response }}",
      license: expect.stringContaining("no rights reserved"),
      messages: [
        { role: "user", content: "hello" },
        { role: "assistant", content: "你好" },
      ],
    });
    const again = await post("/api/generate", asked);
    expect(again).toMatchObject({ done: true, response: generated });
    // The conversation that lost its slot came from its file.
    expect(again.prompt_cached_count).toBeGreaterThan(100);
    expect(await get(`/v1/responses/${response}`)).toMatchObject({ id: response, object: "response" });
    const at = { ...env, LOCALLM_HOST: server.url };
    expect((await command(["list"], at)).out).toContain("team/copy:1");
    expect((await command(["remote", "hosts"], at)).out).toContain("127.0.0.1:9");
    expect(readFileSync(join(home, "drained.json"), "utf8")).toContain("127.0.0.1:9");
    await until("the requests are counted on", () => counted()[0]! > before);
    expect(server.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  } finally {
    await server.stop();
    await rm(home, { recursive: true });
  }
});

// biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of every shape
async function asAnswer(response: Response): Promise<any> {
  return await response.json();
}
