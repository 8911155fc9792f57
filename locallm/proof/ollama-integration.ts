import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, startServer } from "../test/server-process.ts";
import { starterName, starterStore } from "../test/starter-model.ts";

export const title = "Ollama's own integration tests against this server (OLLAMA_SOURCE)";

/** The build tags that Ollama's README recommends for quick coverage. */
const tags = "integration,fast";
const groups = "TestAPI|TestBasic|TestChat|TestEmbedding|TestContext|TestConcurrency|TestTools";

/**
 * Expected failures, by a part of the test's name: intended differences, and tests that need unavailable
 * models.
 */
const known: readonly (readonly [part: string, why: string])[] = [
  ["input_after_truncate_error", "num_ctx 0 is rejected: a window has at least one token"],
  ["api-show-model", "expects the licence and parameters of llama3.2, which the starter stands in for"],
  ["context-exhaustion", "expects certain words of a story; the model has only 135M parameters"],
];

/** `OLLAMA_SOURCE` names a checkout of Ollama's sources in which `go test` runs. */
export async function run(print: (line: string) => void): Promise<void> {
  const { OLLAMA_SOURCE: source, TEST_MODELS: models } = process.env;
  const store = await starterStore();
  if (source === undefined || models === undefined || store === null) {
    print("Not run: it needs OLLAMA_SOURCE (a checkout of Ollama), TEST_MODELS, the starter model and Go.");
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "locallm-ollama-"));
  await cp(store, join(folder, "models"), { recursive: true });
  const server = await startServer({
    hasSmallHeap: true,
    models: join(folder, "models"),
    env: { LOCALLM_GENERATE: "template", LOCALLM_NUM_PARALLEL: "2", LOCALLM_MAX_LOADED_MODELS: "2" },
  });
  try {
    const verb = async (...args: string[]) =>
      await launch(args, { LOCALLM_HOST: server.url, LOCALLM_MODELS: join(folder, "models") }).exited;
    await writeFile(join(folder, "Modelfile"), `FROM ${join(models, "all-minilm-l6-v2-f16.gguf")}\n`);
    await verb("create", "all-minilm", "-f", join(folder, "Modelfile"));
    for (const name of ["llama3.2", "llama3.2:1b"]) await verb("cp", starterName, name);
    print("| test | result | why |");
    print("| --- | --- | --- |");
    for (const model of [starterName, ""])
      for (const { name, result } of await goTest(source, server.url, model)) {
        const why = result === "FAIL" ? (known.find(([part]) => name.includes(part))?.[1] ?? "a fault") : "";
        print(`| ${name} | ${result} | ${why} |`);
      }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface GoResult {
  readonly name: string;
  readonly result: "PASS" | "FAIL" | "SKIP";
}

/** Returns the results of the innermost tests. With an empty `model`, each test chooses its own model. */
async function goTest(source: string, url: string, model: string): Promise<GoResult[]> {
  const arguments_ = [
    "test",
    `-tags=${tags}`,
    "-v",
    "-count",
    "1",
    "-timeout",
    "15m",
    "-run",
    groups,
    "./integration/",
  ];
  const env = { ...process.env, OLLAMA_TEST_EXISTING: "1", OLLAMA_HOST: url, OLLAMA_TEST_MODEL: model };
  const output = await new Promise<string>((resolve) => {
    // `go test` exits with 1 if a test fails; its output is the result.
    execFile("go", arguments_, { cwd: source, env, maxBuffer: 2 ** 28 }, (_error, stdout) => resolve(stdout));
  });
  const all = [...output.matchAll(/^\s*--- (PASS|FAIL|SKIP): (\S+)/gm)].map(
    ([, result, name]) => ({ name, result }) as GoResult,
  );
  if (all.length === 0) throw new Error(`go test gave no results:\n${output.slice(-2000)}`);
  return all.filter(({ name }) => !all.some((other) => other.name.startsWith(`${name}/`)));
}
