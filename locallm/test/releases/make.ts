import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, type ServerProcess, startServer } from "../server-process.ts";
import { smallLlama } from "../small-llama.ts";
import { settingsOf } from "./home.ts";

/**
 * Makes the fixture of a release: what its users have in `~/.locallm`, written by its own code. Run it once, at the
 * commit of the release, and keep what it made: `node -C source locallm/test/releases/make.ts`
 */
const { version } = JSON.parse(
  readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"),
) as { version: string };
const home = await mkdtemp(join(tmpdir(), "locallm-release-"));
const env = settingsOf(home);
try {
  await mkdir(join(home, "models"), { recursive: true });
  const file = join(home, "small.gguf");
  await writeFile(file, smallLlama(1));
  await writeFile(
    join(home, "Modelfile"),
    [
      `FROM ${file}`,
      "SYSTEM You answer in 中文.",
      "PARAMETER stop 停",
      "PARAMETER num_thread 1",
      'TEMPLATE """{{ .System }} {{ .Prompt }} {{ .Response }}"""',
      "MESSAGE user hello",
      "MESSAGE assistant 你好",
      "LICENSE no rights reserved",
    ].join("\n"),
  );
  const made = { LOCALLM_KEYS: join(home, "no-keys") };
  await withServer({ ...env, ...made }, async (server) => {
    await run(["create", "small:old", "-f", join(home, "Modelfile")], { ...env, LOCALLM_HOST: server.url });
    await run(["cp", "small:old", "team/copy:1"], { ...env, LOCALLM_HOST: server.url });
    await run(["remote", "allow", "127.0.0.1:9"], env);
    await server.ask("/api/create", {
      model: "far",
      remote_host: "http://127.0.0.1:9",
      from: "theirs",
      stream: false,
    });
    await run(["remote", "drain", "127.0.0.1:9"], { ...env, LOCALLM_HOST: server.url });
  });
  await rm(file);
  await rm(join(home, "Modelfile"));
  const key = (
    await run(["keys", "create", "--name", "old", "--models", "small:*", "--tokens-per-day", "100000"], env)
  ).match(/sk-\S+/)![0];
  const expected = await withServer(env, async (server) => {
    const headers = { authorization: `Bearer ${key}` };
    const ask = async (path: string, body: object) =>
      (await (await server.post(path, body, { headers })).json()) as Record<string, unknown>;
    const asked = { model: "small:old", prompt: "The quick brown fox. ".repeat(20), stream: false };
    const options = { num_predict: 8, temperature: 0 };
    const generated = await ask("/api/generate", { ...asked, raw: true, options });
    const response = await ask("/v1/responses", { model: "small:old", input: "hello", max_output_tokens: 4 });
    await ask("/api/generate", { model: "small:old", keep_alive: 0 });
    return {
      version,
      key,
      generated: generated["response"],
      asked: { ...asked, raw: true, options },
      response: response["id"],
      digest: (
        (await (await fetch(`${server.url}/api/tags`, { headers })).json()) as {
          models: { digest: string }[];
        }
      ).models[0]!.digest,
    };
  });
  writeFileSync(join(home, "expected.json"), `${JSON.stringify(expected, null, 1)}\n`);
  const to = fileURLToPath(new URL(`${version}.tar.gz`, import.meta.url));
  execFileSync("tar", ["-C", home, "--sort=name", "--owner=0", "--group=0", "-czf", to, "."]);
  console.log(`${to}: ${readFileSync(to).length} bytes`);
} finally {
  await rm(home, { recursive: true });
}

async function withServer<Result>(
  settings: Record<string, string>,
  use: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  const server = await startServer({ env: settings, models: settings["LOCALLM_MODELS"]! });
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

async function run(words: readonly string[], settings: Record<string, string>): Promise<string> {
  const { out, err, code } = await command(words, settings);
  if (code !== 0) throw new Error(`locallm ${words.join(" ")}: ${err}`);
  return out;
}
