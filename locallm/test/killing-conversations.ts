import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checksumAt, checksumEnd } from "../src/wire/inference/kept-state.ts";
import { createSmallStore } from "./model-store.ts";
import { startServer, startServerHere, type TestServer, until } from "./server-process.ts";

export interface KilledConversations {
  /** Kills that interrupted the writing of a file. */
  hits: number;
  /** Complete files after all kills. */
  files: number;
  /** Faults found: a damaged file under its final name, a different answer, or a leftover file. */
  problems: string[];
}

const model = "small:a";
const topics = ["tea", "sea", "pea", "bee", "fee"];
/** The time that one server needs on a busy machine to answer and to write the states. */
const longestMs = 1_500;

/**
 * Repeatedly kills the server (SIGKILL) while it writes conversations to the same folder. After each kill all
 * files must be complete, and the next server must give the same answers with these files as the first server
 * gave without them. A conversation of 80 sentences has about 2,700 tokens, whose state takes 0.7 MB.
 */
export async function killAmidConversations(
  rounds: number,
  random: () => number,
  sentences = 80,
): Promise<KilledConversations> {
  const story = (topic: string) => `${topic}: ${"the quick brown fox jumps over it. ".repeat(sentences)}`;
  const store = await createSmallStore();
  const folder = await mkdtemp(join(tmpdir(), "locallm-kept-"));
  const result: KilledConversations = { hits: 0, files: 0, problems: [] };
  const expected = new Map<string, string>();
  const models = store.folder;
  const env = {
    LOCALLM_CONTEXT_LENGTH: "4096",
    LOCALLM_CACHE_DISK: "64MiB",
    LOCALLM_CACHE_FOLDER: folder,
  };
  const ask = async (server: TestServer, topic: string, turn = 0) => {
    const options = { temperature: 0, num_predict: 2 };
    const body = { model, prompt: story(topic) + " And?".repeat(turn), stream: false, options };
    return (await server.ask<{ response: string }>("/api/generate", body)).response;
  };
  await mkdir(folder, { recursive: true });
  const cold = await startServerHere({
    models,
    env: { ...env, LOCALLM_CACHE_DISK: "0", LOCALLM_CACHE_RAM: "0" },
  });
  for (const topic of topics) expected.set(topic, await ask(cold, topic));
  await cold.stop();
  for (let round = 0; round < rounds; round++) {
    const server = await startServer({ models, env });
    const work = talk(server, ask, expected, result, round);
    // Waits until the server has answered with the states that the last kill left.
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
  const last = await startServerHere({ models, env });
  const left = (await readdir(folder)).filter((name) => !name.endsWith(".state"));
  if (left.length > 0) result.problems.push(`left over: ${left.join(", ")}`);
  for (const topic of topics) {
    const answer = await ask(last, topic);
    if (answer !== expected.get(topic)) result.problems.push(`after all kills, ${topic}: ${answer}`);
  }
  await last.stop();
  result.files = (await readdir(folder)).length;
  await store.remove();
  await rm(folder, { recursive: true, force: true });
  return result;
}

/** Continues conversations turn by turn until the server is gone. */
async function talk(
  server: TestServer,
  ask: (server: TestServer, topic: string, turn: number) => Promise<string>,
  expected: ReadonlyMap<string, string>,
  result: KilledConversations,
  round: number,
): Promise<void> {
  try {
    for (let turn = 0; ; turn++) {
      for (const topic of topics) {
        const answer = await ask(server, topic, turn);
        if (turn === 0 && answer !== expected.get(topic))
          result.problems.push(`round ${round}, ${topic}: ${answer}`);
      }
    }
  } catch {
    // The server was killed.
  }
}

async function isWhole(path: string): Promise<boolean> {
  const bytes = await readFile(path);
  const hash = createHash("sha256").update(bytes.subarray(0, checksumAt)).update(bytes.subarray(checksumEnd));
  return hash.digest().equals(bytes.subarray(checksumAt, checksumEnd));
}
