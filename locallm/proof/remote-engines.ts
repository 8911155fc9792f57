import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../testing/free-port.ts";
import { createSmallStore } from "../test/model-store.ts";
import { launch, lines, type ServerProcess, startServer, until } from "../test/server-process.ts";
import { smallLlama } from "../test/small-llama.ts";

export const title =
  "Remote models over real engines: replicas, Ray's controller and engines are killed, added and drained";

/** PROOF_REQUESTS is the number of requests in all. PROOF_PYTHON is a Python with xllamacpp, PROOF_RAY_PYTHON one with ray[serve]. */
const requests = Number(process.env["PROOF_REQUESTS"] ?? 2000);
const python = process.env["PROOF_PYTHON"] ?? "python3";
const rayPython = process.env["PROOF_RAY_PYTHON"] ?? "python3";

const atOnce = 12;
/** The generated model never ends an answer itself. */
const answerTokens = 200;

export async function run(print: (line: string) => void): Promise<void> {
  const has = (program: string, module: string) =>
    spawnSync(program, ["-c", `import ${module}`], { stdio: "ignore" }).status === 0;
  if (!has(python, "xllamacpp"))
    return print("skipped: needs xllamacpp (PROOF_PYTHON names a Python that has it)");
  const hasRay = has(rayPython, "ray.serve");
  if (!hasRay)
    print("Ray Serve is left out: it needs ray[serve] (PROOF_RAY_PYTHON names a Python that has it).\n");

  const folder = await mkdtemp(join(tmpdir(), "locallm-engines-"));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const started = <Part extends { stop(): Promise<unknown> }>(part: Part): Part => {
    stops.push(() => part.stop());
    return part;
  };
  try {
    const log = join(folder, "engines.log");
    await writeFile(log, "");
    const model = join(folder, "small.gguf");
    await writeFile(model, smallLlama(1));
    const llama = async () => started(await startLlamaServer(model));
    const front = async (url: string) => started(await countingFront(url, log));

    const store = await createSmallStore();
    stops.push(() => store.remove());
    const ours = started(
      await startServer({ hasSmallHeap: true, models: store.folder, env: { LOCALLM_NUM_PARALLEL: "4" } }),
    );
    const [first, second, behindRay] = await Promise.all([llama(), llama(), llama()]);
    const [firstFront, secondFront, oursFront] = await Promise.all([
      front(first.url),
      front(second.url),
      front(ours.url),
    ]);
    const ray = hasRay ? started(await startRay(folder, log, `${behindRay.url}/v1`)) : null;
    const gateway = started(
      await startServer({
        hasSmallHeap: true,
        env: { LOCALLM_REMOTES: "127.0.0.1", HOME: folder, LOCALLM_MAX_QUEUE: "1000" },
      }),
    );

    // llama-server lists its model by its path.
    const openAi = (url: string) => ({ url: `${url}/v1`, model });
    const replicas: object[] = [
      openAi(firstFront.url),
      { url: oursFront.url, model: "small:a", protocol: "ollama" },
      ...(ray === null ? [] : [openAi(ray.url)]),
    ];
    const create = async (remotes: object[]) => {
      await gateway.ask("/api/create", { model: "fleet", remotes, stream: false });
    };
    await create(replicas);

    const phases: [string, () => Promise<unknown>][] = [
      ["nothing happens", async () => {}],
      ...(ray === null
        ? []
        : ([
            ["a replica of Ray Serve is killed", () => ray.killReplica()],
            ["the controller of Ray Serve is killed", () => ray.killController()],
            ["Ray Serve gets a third replica", () => ray.scale(3)],
          ] as [string, () => Promise<unknown>][])),
      ["a llama-server is added (`POST /api/create`)", () => create([...replicas, openAi(secondFront.url)])],
      ["our server is drained (`locallm remote drain`)", () => drain(gateway, folder, oursFront.url)],
      ["a llama-server is killed", () => first.stop()],
    ];
    print(
      "| while | requests | answered in full | broke off after a piece | failed before a piece | sent to two engines | answered by two engines | where they went |",
    );
    print("| --- | --: | --: | --: | --: | --: | --: | --- |");
    const names = new Map([
      [firstFront.port, "llama-server 1"],
      [secondFront.port, "llama-server 2"],
      [oursFront.port, "locallm"],
    ]);
    let id = 0;
    const words: string[] = [];
    for (const [index, [what, act]] of phases.entries()) {
      const count =
        Math.floor((requests * (index + 1)) / phases.length) - Math.floor((requests * index) / phases.length);
      const from = id;
      let ended = 0;
      let acting: Promise<unknown> | null = null;
      const outcomes: Outcome[] = [];
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (id < from + count) {
            outcomes.push(await ask(gateway, ++id));
            if (++ended === Math.floor(count / 3)) acting = act();
          }
        }),
      );
      await acting;
      const seen = await engineSide(log, from, id, names);
      const is = (kind: Outcome["kind"]) => outcomes.filter((one) => one.kind === kind);
      const places = [...seen.places].map(([place, times]) => `${place} ${times}`).join(", ");
      print(
        `| ${what} | ${count} | ${is("whole").length} | ${is("broke off").length} | ${is("failed").length} | ${seen.begunTwice} | ${seen.endedTwice} | ${places} |`,
      );
      for (const { kind, text } of outcomes) if (kind !== "whole") words.push(`${what}: ${kind}: ${text}`);
      await ray?.whole();
    }
    const told = new Map<string, number>();
    for (const word of words) told.set(word, (told.get(word) ?? 0) + 1);
    for (const [word, times] of [...told].slice(0, 12)) print(`\n- ${times} × ${word}`);
  } finally {
    for (const stop of stops.reverse()) await stop().catch((error: unknown) => print(`\n- ${error}`));
  }
}

interface Outcome {
  /** `failed` means that no piece of the answer arrived. */
  readonly kind: "whole" | "broke off" | "failed";
  readonly text: string;
}

/** Alternates between two APIs. The message begins with the id, which the engines log. */
async function ask(gateway: ServerProcess, id: number): Promise<Outcome> {
  const messages = [{ role: "user", content: `#${id} hello` }];
  let content = "";
  let tokens = 0;
  let isDone = false;
  let error = "";
  try {
    if (id % 2 === 0) {
      const options = { num_predict: answerTokens, temperature: 0 };
      const answer = await gateway.post("/api/chat", { model: "fleet", messages, options });
      for await (const line of lines(answer)) {
        content += (line["message"] as { content?: string } | undefined)?.content ?? "";
        isDone ||= line["done"] === true;
        tokens += Number(line["eval_count"] ?? 0);
        if (line["error"] !== undefined) error = String(line["error"]);
      }
    } else {
      const body = {
        model: "fleet",
        messages,
        max_tokens: answerTokens,
        temperature: 0,
        stream: true,
        stream_options: { include_usage: true },
      };
      const answer = await gateway.post("/v1/chat/completions", body);
      const text = await answer.text();
      if (!answer.ok) error = text;
      for (const [, data = ""] of text.matchAll(/^data: (.*)$/gm)) {
        if (data === "[DONE]") isDone = true;
        else {
          const chunk = JSON.parse(data) as {
            error?: unknown;
            choices?: { delta?: { content?: string } }[];
            usage?: { completion_tokens: number } | null;
          };
          content += chunk.choices?.[0]?.delta?.content ?? "";
          tokens += chunk.usage?.completion_tokens ?? 0;
          if (chunk.error !== undefined) error = JSON.stringify(chunk.error);
        }
      }
    }
  } catch (thrown) {
    error = String(thrown);
  }
  const isWhole = isDone && error === "" && tokens === answerTokens;
  if (isWhole) return { kind: "whole", text: "" };
  const text = (error || `${tokens} of ${answerTokens} tokens, ${content.length} characters`).replace(
    /127\.0\.0\.1:\d+|req[-_]\w+/g,
    "…",
  );
  return { kind: content === "" ? "failed" : "broke off", text: text.slice(0, 200) };
}

/** What the engines wrote about the requests after `from` up to `to`. */
async function engineSide(log: string, from: number, to: number, names: ReadonlyMap<number, string>) {
  // An answer's end is written after its last byte was sent.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const begun = new Map<number, number>();
  const ended = new Map<number, number>();
  const places = new Map<string, number>();
  for (const line of (await readFile(log, "utf8")).split("\n")) {
    const [what = "", text = "", place = ""] = line.split(" ");
    const id = Number(text);
    if (!(id > from && id <= to)) continue;
    const counts = what === "begin" ? begun : ended;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const name = names.get(Number(place)) ?? "Ray Serve";
    if (what === "begin") places.set(name, (places.get(name) ?? 0) + 1);
  }
  const twice = (counts: ReadonlyMap<number, number>) =>
    [...counts.values()].filter((count) => count > 1).length;
  return { begunTwice: twice(begun), endedTwice: twice(ended), places };
}

/** A proxy that logs which requests begin and which answers it passed on completely. */
async function countingFront(target: string, log: string) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const id = /#(\d+)/.exec(body.toString())?.[1];
    const write = async (what: string) => {
      if (id !== undefined) await appendFile(log, `${what} ${id} ${port()}\n`);
    };
    await write("begin");
    const { host: _, ...headers } = request.headers;
    const passed = send(
      target + (request.url ?? "/"),
      { method: request.method, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.once("end", () => void write("end"));
        answer.once("error", () => response.destroy());
      },
    );
    passed.once("error", () => response.destroy());
    response.once("close", () => passed.destroy());
    passed.end(body);
  });
  const port = () => (server.address() as AddressInfo).port;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${port()}`,
    port: port(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const llamaServer = `
import sys, time, xllamacpp as x
p = x.CommonParams()
p.model.path = sys.argv[1]
p.n_parallel = 8
p.n_ctx = 512 * 8
p.port = 0
p.cpuparams.n_threads = 1
p.cpuparams_batch.n_threads = 1
p.endpoint_slots = True
s = x.Server(p)
print("listening on " + s.listening_address, flush=True)
while True: time.sleep(60)
`;

async function startLlamaServer(model: string) {
  const child = spawn(python, ["-c", llamaServer, model], { stdio: ["ignore", "pipe", "ignore"] });
  const line = await firstLine(child, createInterface(child.stdout), (text) =>
    text.startsWith("listening on "),
  );
  return { url: line.slice("listening on ".length).trim(), stop: () => killed(child) };
}

async function startRay(folder: string, log: string, engine: string) {
  const port = await freePort();
  const script = fileURLToPath(new URL("ray-serve.py", import.meta.url));
  // Ray writes a token into HOME, and its sockets need a short path.
  const temporary = await mkdtemp("/tmp/ray-");
  const child = spawn(rayPython, [script, String(port), log, engine], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, HOME: folder, RAY_TMPDIR: temporary },
  });
  const output = createInterface(child.stdout);
  const answer = async () =>
    JSON.parse(await firstLine(child, output, (line) => line.startsWith("{"))) as Record<string, number>;
  const command = async (text: string) => {
    const answered = answer();
    child.stdin.write(`${text}\n`);
    return await answered;
  };
  const url = `http://127.0.0.1:${port}`;
  const pid = async () => ((await (await fetch(`${url}/pid`)).json()) as { pid: number }).pid;
  let { controller = 0 } = await answer();
  let replicas = 2;
  return {
    url,
    async killReplica() {
      process.kill(await pid(), "SIGKILL");
    },
    async killController() {
      process.kill(controller, "SIGKILL");
    },
    async scale(count: number) {
      replicas = count;
      await command(`scale ${count}`);
    },
    /** Waits until the controller runs and all replicas answer. */
    async whole() {
      ({ controller = 0 } = await command("controller"));
      const seen = new Set<number>();
      await until("all replicas of Ray Serve answer", async () => {
        seen.add(await pid().catch(() => 0));
        seen.delete(0);
        return seen.size >= replicas;
      });
    },
    async stop() {
      const exited = once(child, "exit");
      child.stdin.end();
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 30_000).unref())]);
      await killed(child);
      await rm(temporary, { recursive: true, force: true });
    },
  };
}

async function drain(gateway: ServerProcess, home: string, url: string): Promise<void> {
  const { exited, stderr } = launch(["remote", "drain", new URL(url).host], {
    LOCALLM_HOST: gateway.url,
    HOME: home,
  });
  const { code } = await exited;
  if (code !== 0) throw new Error(`locallm remote drain: ${stderr()}`);
}

async function firstLine(
  child: ChildProcess,
  output: Interface,
  fits: (line: string) => boolean,
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const read = (line: string) => {
      if (!fits(line)) return;
      output.off("line", read);
      resolve(line);
    };
    output.on("line", read);
    child.once("exit", (code) => reject(new Error(`${child.spawnfile} ended with ${code}`)));
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
