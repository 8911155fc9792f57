import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { fileURLToPath } from "node:url";
import { type ServerProcess, startServer } from "../locallm/test/server-process.ts";
import { median, quartiles } from "../testing/speed/bursts.ts";
import { cpuMs, machineMs } from "../testing/speed/processes.ts";

/**
 * Measures what locallm adds in front of another engine: time to the first token, and processor time at many streams.
 * The engine sends tokens at a fixed rate from a process of its own.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const engine = fork(fileURLToPath(new URL("remote/paced-engine.ts", import.meta.url)), {
    execArgv: ["-C", "source"],
  });
  const [port] = (await once(engine, "message")) as [number];
  const engineUrl = `http://127.0.0.1:${port}/v1`;
  const server = await startServer({ env: { LOCALLM_REMOTES: `127.0.0.1:${port}` } });
  try {
    const remotes = [{ url: engineUrl, model: "m" }];
    await server.ask("/api/create", { model: "one", remotes, stream: false });
    await firstTokens(print, engineUrl, server);
    for (const rate of [20, 50]) await streams(print, engineUrl, server, engine, rate);
  } finally {
    await server.stop();
    engine.disconnect();
  }
}

const rounds = 300;

/** Sends one request at a time, alternately to the engine and to locallm. */
async function firstTokens(print: (line: string) => void, engineUrl: string, server: ServerProcess) {
  const ways = new Map([
    ["the engine itself", () => ask(`${engineUrl}/chat/completions`, "m", 8, 1000)],
    ["/v1/chat/completions", () => ask(`${server.url}/v1/chat/completions`, "one", 8, 1000)],
    ["/api/chat", () => ask(`${server.url}/api/chat`, "one", 8, 1000)],
  ]);
  const times = new Map<string, number[]>([...ways.keys()].map((name) => [name, []]));
  for (let round = -30; round < rounds; round++)
    for (const [name, way] of ways) {
      const { firstMs } = await way();
      if (round >= 0) times.get(name)!.push(firstMs);
    }
  print(`Time to the first token, ${rounds} requests each, one at a time`);
  print("");
  print("| way | p50, ms | p99, ms | added, p50 | added, quartiles |");
  print("|---|---:|---:|---:|---:|");
  const [base = []] = times.values();
  for (const [name, all] of times) {
    const added = all.map((ms, index) => ms - base[index]!);
    const p99 = all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)]!;
    print(
      `| ${name} | ${median(all).toFixed(2)} | ${p99.toFixed(2)} | ${median(added).toFixed(2)} | ${quartiles(added)} |`,
    );
  }
  print("");
}

const count = 200;
const seconds = 10;

async function streams(
  print: (line: string) => void,
  engineUrl: string,
  server: ServerProcess,
  engine: ChildProcess,
  rate: number,
) {
  print(`${count} streams of ${rate} tokens/s for ${seconds} s`);
  print("");
  print(
    "| way | first token p50, ms | p99, ms | tokens/s | locallm, cores | engine, cores | machine, cores |",
  );
  print("|---|---:|---:|---:|---:|---:|---:|");
  const ways = {
    "the engine itself": [`${engineUrl}/chat/completions`, "m"],
    "/v1/chat/completions": [`${server.url}/v1/chat/completions`, "one"],
    "/api/chat": [`${server.url}/api/chat`, "one"],
  };
  for (const [name, [url = "", model = ""]] of Object.entries(ways)) {
    const before = [cpuMs([server.pid]), cpuMs([engine.pid!]), machineMs()];
    const began = performance.now();
    const all = Array.from({ length: count }, async (_, index) => {
      // Spread over half a second, as real clients are.
      await new Promise((resolve) => setTimeout(resolve, (index * 500) / count));
      return await ask(url, model, rate * seconds, rate);
    });
    const results = await Promise.all(all);
    const wallMs = performance.now() - began;
    const after = [cpuMs([server.pid]), cpuMs([engine.pid!]), machineMs()];
    const cores = after.map((ms, index) => ((ms - before[index]!) / wallMs).toFixed(2));
    const first = results.map(({ firstMs }) => firstMs).sort((a, b) => a - b);
    const tokens = results.reduce((sum, each) => sum + each.pieces, 0);
    if (tokens !== count * rate * seconds) throw new Error(`${tokens} tokens of ${name} arrived`);
    print(
      `| ${name} | ${median(first).toFixed(2)} | ${first[Math.floor(count * 0.99)]!.toFixed(2)} | ${(tokens / (wallMs / 1000)).toFixed(0)} | ${cores.join(" | ")} |`,
    );
  }
  print("");
}

const agent = new Agent({ keepAlive: true });
const word = Buffer.from('word"');

/** Reads a stream as cheaply as possible: the client's own time must not affect the result. */
async function ask(url: string, model: string, tokens: number, rate: number) {
  const content = `${tokens} tokens, ${rate} per second`;
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content }] });
  const began = performance.now();
  const sent = request(url, {
    method: "POST",
    agent,
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let firstMs = 0;
  let pieces = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const seen = Buffer.concat([rest, chunk]);
    for (let at = seen.indexOf(word); at >= 0; at = seen.indexOf(word, at + 1)) pieces++;
    rest = seen.subarray(1 - word.length);
    if (pieces > 0) firstMs ||= performance.now() - began;
  }
  return { firstMs, pieces };
}
