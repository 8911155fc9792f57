import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { smallHeap } from "../locallm/src/cli/small-heap.ts";
import { shownLine } from "./log-line.ts";

/**
 * `npm start` runs both products as child processes without configuration. Each child reports over its IPC
 * channel when it is ready (`{ready: …}`). When this process ends for any reason, the channel closes and the
 * children exit. With `--log` it shows all lines of their logs.
 *
 * dataq starts when locallm has its address (`{listening: …}`). If both started at once, of two `npm start` one could
 * get locallm's address and the other dataq's, and both would exit.
 */
interface Product {
  readonly name: "locallm" | "dataq";
  readonly main: string;
  readonly arguments: readonly string[];
  readonly nodeOptions: readonly string[];
}

/** What a product reports when it can be used. */
interface Ready {
  readonly url: string;
  readonly key?: string;
  readonly console?: string;
  readonly model?: string | null;
  /** Of dataq: whether the first laws are there. If not, `{prepared: …}` follows. */
  readonly isPrepared?: boolean;
  /** Of dataq: the JSON of a call that is answered. */
  readonly call?: string;
}

interface Message {
  readonly listening?: object;
  readonly ready?: Ready;
  /** The call that is answered now. */
  readonly prepared?: string;
  /** Of dataq: how many operations have real data, and what brings more. */
  readonly realData?: string;
}

const options = process.argv.slice(2);
if (options.some((option) => option !== "--log")) {
  console.error("npm start -- [--log]   runs both products; --log shows every line of their logs.");
  process.exit(options.includes("--help") ? 0 : 1);
}
const showsAll = options.includes("--log");
const shown = showsAll ? (line: string) => line : shownLine;

const products: Readonly<Record<Product["name"], Product>> = {
  locallm: {
    name: "locallm",
    main: "../locallm/dist/cli/main.js",
    arguments: ["serve", "--starter-model", "--log-format", showsAll ? "json" : "text"],
    nodeOptions: smallHeap,
  },
  dataq: { name: "dataq", main: "../dataq/service/dist/cli/main.js", arguments: ["serve"], nodeOptions: [] },
};

const drainMs = 10_000;
const began = performance.now();
const children = new Map<Product["name"], ChildProcess>();
const ready = new Map<Product["name"], Ready>();
let stopping = false;
let isWelcomed = false;
let realData: string | undefined;

start(products.locallm);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));

function start(product: Product): void {
  const child = fork(fileURLToPath(new URL(product.main, import.meta.url)), product.arguments, {
    execArgv: [...product.nodeOptions],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // The child gets its own process group, so that Ctrl-C reaches it only through this process, once and in
    // order.
    detached: true,
    windowsHide: true,
  } as ForkOptions);
  relay(product.name, child.stdout, process.stdout);
  relay(product.name, child.stderr, process.stderr);
  child.on("message", (message: Message) => {
    if (message.listening !== undefined && !stopping) start(products.dataq);
    if (message.prepared !== undefined) prepared(message.prepared);
    if (message.realData !== undefined) tellRealData(message.realData);
    if (message.ready === undefined) return;
    ready.set(product.name, message.ready);
    welcome();
  });
  child.on("exit", (code, signal) => {
    children.delete(product.name);
    if (!stopping)
      console.error(`${product.name} ended by itself (${signal ?? `exit code ${code}`}); stopping.`);
    if (!stopping) stop(code === 0 ? 1 : (code ?? 1));
    else if (children.size === 0) process.exit();
  });
  children.set(product.name, child);
}

function stop(exitCode: number): void {
  if (stopping) return;
  stopping = true;
  process.exitCode = exitCode;
  if (children.size === 0) process.exit();
  // Windows has no SIGTERM: there it would end a child at once. The end of its channel stops it properly.
  for (const child of children.values())
    if (process.platform === "win32") child.disconnect();
    else child.kill("SIGTERM");
  setTimeout(() => {
    for (const [name, child] of children) {
      console.error(`${name} did not stop within ${drainMs / 1000} s; ending it.`);
      child.kill("SIGKILL");
    }
  }, drainMs).unref();
}

/**
 * Prints only whole lines and puts the product's name before each, so that both products can share a
 * terminal.
 */
function relay(name: string, from: NodeJS.ReadableStream | null, to: NodeJS.WriteStream): void {
  let rest = "";
  from?.setEncoding("utf8");
  from?.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) write(line);
  });
  from?.on("end", () => {
    if (rest !== "") write(rest);
  });
  function write(line: string): void {
    const text = shown(line);
    if (text !== null) to.write(`${name.padEnd(7)} │ ${text}\n`);
  }
}

function welcome(): void {
  const locallm = ready.get("locallm");
  const dataq = ready.get("dataq");
  if (locallm === undefined || dataq === undefined) return;
  isWelcomed = true;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const chat = JSON.stringify({
    model: locallm.model ?? "<model>",
    messages: [{ role: "user", content: "What is the capital of France?" }],
  });
  const talk =
    locallm.model == null
      ? "no model yet: the lines above say why; npm run locallm -- pull smollm2:135m"
      : `npm run locallm -- run ${locallm.model}`;
  const larger =
    locallm.model === "smollm2:135m" ? "\n  larger   npm run locallm -- pull qwen3:4b (2.5 GB)" : "";
  console.log(`
Both products run (ready after ${seconds} s). Ctrl-C stops them.

locallm, the model server: ${locallm.url}
  chat     ${locallm.url} in a browser
  talk     ${talk}${larger}
  ask      curl ${locallm.url}/api/chat -d '${chat}'

dataq, the data service: ${dataq.url}
  console  ${dataq.console}
           (works once; for another: npm run dataq -- link)
  key      ${dataq.key}
  ask      ${dataq.isPrepared === false ? "the laws are being prepared; the line to ask follows when they are there" : dataqLine(dataq)}

Documentation: ${locallm.url}/docs, ${dataq.url}/docs. Every line of the logs: npm start -- --log
`);
  if (realData !== undefined) console.log(realData);
}

/** The preparation ended after the welcome: now the line to ask gets its answer at once. */
function prepared(call: string): void {
  const dataq = ready.get("dataq");
  if (dataq === undefined) return;
  ready.set("dataq", { ...dataq, isPrepared: true, call });
  if (isWelcomed) console.log(`\ndataq is prepared:\n  ask      ${dataqLine({ ...dataq, call })}\n`);
}

function tellRealData(line: string): void {
  if (isWelcomed) console.log(line);
  else realData = line;
}

function dataqLine({ url, key, call }: Ready): string {
  return `curl ${url}/v1/data/query -H 'Authorization: Bearer ${key}' \\
             -H 'Content-Type: application/json' -d '${call}'`;
}
