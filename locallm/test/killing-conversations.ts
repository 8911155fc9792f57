import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checksumAt, checksumEnd } from "../src/wire/inference/kept-state.ts";
import { createSmallStore } from "./model-store.ts";
import { type ServerProcess, startServer, until } from "./server-process.ts";

export interface KilledConversations {
  /** Kills that left a file that was being written. */
  hits: number;
  /** Whole files after all kills. */
  files: number;
  /** Faults: a damaged file under its final name, a different answer, a leftover file. */
  problems: string[];
}

const model = "small:a";
const topics = ["tea", "sea", "pea", "bee", "fee"];
/** About 2,700 tokens, whose states are 0.7 MB. */
const story = (topic: string) => `${topic}: ${"the quick brown fox jumps over it. ".repeat(80)}`;
/** Answers and writes of one server, on a busy machine. */
const longestMs = 1_500;

/**
 * Kills the server (SIGKILL) while it writes conversations to disk, again and again in one folder. After each kill all
 * files must be whole, and the next server must give the same answers with them as the first one without.
 */
export async function killAmidConversations(
  rounds: number,
  random: () => number,
): Promise<KilledConversations> {
  const store = await createSmallStore();
  const folder = await mkdtemp(join(tmpdir(), "locallm-kept-"));
  const result: KilledConversations = { hits: 0, files: 0, problems: [] };
  const expected = new Map<string, string>();
  const start = (more: Record<string, string> = {}) =>
    startServer({
      models: store.folder,
      env: {
        LOCALLM_CONTEXT_LENGTH: "4096",
        LOCALLM_CACHE_DISK: "64MiB",
        LOCALLM_CACHE_FOLDER: folder,
        ...more,
      },
    });
  const ask = async (server: ServerProcess, prompt: string) => {
    const options = { temperature: 0, num_predict: 2 };
    const body = { model, prompt, stream: false, options };
    return (await server.ask<{ response: string }>("/api/generate", body)).response;
  };
  await mkdir(folder, { recursive: true });
  const cold = await start({ LOCALLM_CACHE_DISK: "0", LOCALLM_CACHE_RAM: "0" });
  for (const topic of topics) expected.set(topic, await ask(cold, story(topic)));
  await cold.stop();
  for (let round = 0; round < rounds; round++) {
    const server = await start();
    const work = talk(server, ask, expected, result, round);
    // Once it has answered from what was left by the last kill.
    await until("the first answer came", () => server.log.some((line) => line["route"] === "/api/generate"));
    await new Promise((resolve) => setTimeout(resolve, random() * longestMs));
    server.signal("SIGKILL");
    await server.exited;
    await work;
    const names = await readdir(folder);
    if (names.some((name) => name.endsWith(".partial"))) result.hits++;
    for (const name of names.filter((each) => each.endsWith(".state")))
      if (!(await isWhole(join(folder, name)))) result.problems.push(`round ${round}: ${name} is damaged`);
  }
  const last = await start();
  const left = (await readdir(folder)).filter((name) => !name.endsWith(".state"));
  if (left.length > 0) result.problems.push(`left over: ${left.join(", ")}`);
  for (const topic of topics) {
    const answer = await ask(last, story(topic));
    if (answer !== expected.get(topic)) result.problems.push(`after all kills, ${topic}: ${answer}`);
  }
  await last.stop();
  result.files = (await readdir(folder)).length;
  await store.remove();
  await rm(folder, { recursive: true, force: true });
  return result;
}

/** Conversations that grow in turns, until the server is gone. */
async function talk(
  server: ServerProcess,
  ask: (server: ServerProcess, prompt: string) => Promise<string>,
  expected: ReadonlyMap<string, string>,
  result: KilledConversations,
  round: number,
): Promise<void> {
  try {
    for (let turn = 0; ; turn++) {
      for (const topic of topics) {
        const answer = await ask(server, story(topic) + " And?".repeat(turn));
        if (turn === 0 && answer !== expected.get(topic))
          result.problems.push(`round ${round}, ${topic}: ${answer}`);
      }
    }
  } catch {
    // It was killed.
  }
}

async function isWhole(path: string): Promise<boolean> {
  const bytes = await readFile(path);
  const hash = createHash("sha256").update(bytes.subarray(0, checksumAt)).update(bytes.subarray(checksumEnd));
  return hash.digest().equals(bytes.subarray(checksumAt, checksumEnd));
}
