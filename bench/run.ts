import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { compare, type Figure } from "../testing/speed/bursts.ts";
import { Peer } from "../testing/speed/peer.ts";

const usage = `npm run bench -- <figure> … --server NAME=WHAT --server NAME=WHAT [--bursts 15] [--others 0.12] [--scale 1] [--neighbours 0] [--model NAME] [--options '{"num_thread":2}']

WHAT is a base URL (Ollama's API or llama-server's), or a command line that starts a server, with {port} where
its port goes; it is started and ended here. Ratios are taken to each server but the first. --neighbours is the
number of programs that each keep a core busy meanwhile.
Figures:`;

const { values, positionals } = parseArgs({
  options: {
    server: { type: "string", multiple: true, default: [] },
    bursts: { type: "string", default: "15" },
    others: { type: "string", default: "0.12" },
    scale: { type: "string", default: "1" },
    neighbours: { type: "string", default: "0" },
    model: { type: "string" },
    options: { type: "string", default: "{}" },
  },
  allowPositionals: true,
});
/** Figures that start their own server. */
type Alone = (print: (line: string) => void) => Promise<void>;
const alone = new Map<string, Alone>();
/** Figures that print their own tables. */
type Report = typeof import("./agents.ts").report;
const reports = new Map<string, { title: string; report: Report }>();
const figures = await findFigures();
const only = alone.get(positionals[0] ?? "");
if (only !== undefined) {
  await only(console.log);
  process.exit(0);
}
const unknown = positionals.filter((name) => !figures.has(name) && !reports.has(name));
if (positionals.length === 0 || unknown.length > 0 || values.server.length === 0) {
  console.error(
    `${usage}\n${[...figures, ...reports].map(([name, { title }]) => `  ${name.padEnd(24)}${title}`).join("\n")}`,
  );
  process.exit(2);
}

const firstPort = 21_500;
const peers = values.server.map((entry, index) => {
  const [name = "", ...what] = entry.split("=");
  return new Peer(name, what.join("="), firstPort + index);
});
const neighbours: ChildProcess[] = [];
process.once("exit", () => {
  for (const peer of peers) peer.kill();
  for (const neighbour of neighbours) neighbour.kill();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  for (const peer of peers) {
    await peer.start();
    await peer.detect(values.model);
    peer.options = JSON.parse(values.options) as Record<string, unknown>;
    // A server without an engine can still be measured by its small answers.
    if (positionals.every((name) => name === "small-gets")) continue;
    // The first answer loads the model and warms up the caches.
    if (!positionals.includes("embeddings")) await peer.complete({ prompt: "Hello", tokens: 8, seed: null });
    else await peer.embed(["Hello"]);
  }
  // Started after the servers, so that the first answer is quick.
  for (let count = Number(values.neighbours); count > 0; count--)
    neighbours.push(spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  for (const name of positionals) {
    const options = { bursts: Number(values.bursts), othersCores: Number(values.others) };
    const own = reports.get(name);
    if (own === undefined) await compare(figures.get(name)!, peers, options, console.log);
    else await own.report(peers, { scale: Number(values.scale) }, console.log);
    console.log("");
  }
} finally {
  for (const neighbour of neighbours) neighbour.kill();
  for (const peer of peers) await peer.stop();
}

async function findFigures(): Promise<Map<string, Figure>> {
  const found = new Map<string, Figure>();
  for (const name of readdirSync(import.meta.dirname).sort()) {
    if (!name.endsWith(".ts") || name === "run.ts") continue;
    const module = (await import(`./${name}`)) as {
      figure?: Figure;
      run?: Alone;
      title?: string;
      report?: Report;
    };
    if (module.figure !== undefined) found.set(name.slice(0, -3), module.figure);
    else if (module.report !== undefined)
      reports.set(name.slice(0, -3), { title: module.title ?? "", report: module.report });
    else if (module.run !== undefined) alone.set(name.slice(0, -3), module.run);
  }
  return found;
}
