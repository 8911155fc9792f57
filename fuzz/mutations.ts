import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync, Visitor } from "oxc-parser";
import { equivalents } from "./equivalent-mutants.ts";
import type { Answered, Asked } from "./mutant-runner.ts";
import { Random } from "./random.ts";

export const title = "Mutations: one operator changed at a time, and whether a test fails";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Folders and files that are changed, and the tests that must notice. */
const places: Readonly<
  Record<string, { readonly sources: readonly string[]; readonly tests: readonly string[] }>
> = {
  scheduler: { sources: ["locallm/src/scheduler"], tests: ["locallm/src/scheduler"] },
  reuse: {
    sources: ["plan", "reuse", "prefix", "place", "slot", "slots"].map(
      (one) => `locallm/src/engine/${one}.ts`,
    ),
    tests: ["plan", "reuse", "prefix", "place", "slot", "slots", "slots-simulation"].map(
      (one) => `locallm/src/engine/${one}.test.ts`,
    ),
  },
  grammar: { sources: ["locallm/src/dialogue/grammar"], tests: ["locallm/src/dialogue/grammar"] },
  library: { sources: ["locallm/src/library/gguf"], tests: ["locallm/src/library"] },
  limits: {
    sources: ["dataq/service/src/limits"],
    tests: ["dataq/service/src/limits", "dataq/service/src/sources/connected.test.ts"],
  },
  ledger: {
    sources: ["dataq/service/src/ledger"],
    tests: ["dataq/service/src/ledger", "dataq/service/test/ledger-model.test.ts"],
  },
  authorisation: {
    sources: ["principal", "scope", "grant", "expiry", "key"].map(
      (one) => `dataq/service/src/accounts/${one}.ts`,
    ),
    tests: ["dataq/service/src/accounts", "dataq/service/test/access.test.ts"],
  },
  citations: {
    sources: ["dataq/service/src/operations/legal/citation-check"],
    tests: ["dataq/service/src/operations/legal/citation-check"],
  },
  ranking: {
    sources: ["dataq/service/src/search/bm25.ts", "dataq/service/src/search/postings/ranking"],
    tests: ["dataq/service/src/search"],
  },
};

interface Mutant {
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly becomes: string;
}

const others: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
};

/**
 * Writes how each mutant died into a file for each place. `--only` names one place, `--file` the files whose path
 * contains it, `--most` (40) bounds the mutants of each place, chosen by `--seed` (1). `--again` names such a file of an
 * earlier run, whose survivors are tried instead. `--tests` names the only tests that run, for a first look. A file is
 * changed where it stands and put back after its tests; run it in a work tree that nobody else uses.
 */
export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      file: { type: "string", default: "" },
      most: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      again: { type: "string" },
      tests: { type: "string", multiple: true },
    },
  });
  if (values.only !== undefined && !(values.only in places))
    throw new Error(`--only must be one of ${Object.keys(places).join(", ")}, not ${values.only}.`);
  const again = values.again === undefined ? null : survivorsIn(values.again);
  print("| place | possible | the same | tried | killed | score |");
  print("| --- | --: | --: | --: | --: | --: |");
  for (const [name, { sources, tests }] of Object.entries(places)) {
    if (values.only !== undefined && values.only !== name) continue;
    const possible = sources.flatMap(mutantsIn).filter(({ path }) => path.includes(values.file));
    const all = possible.filter((mutant) => !isExplained(mutant) && (again?.has(named(mutant)) ?? true));
    const random = new Random(Number(values.seed));
    const tried: Mutant[] = [];
    for (const left = [...all]; left.length > 0 && tried.length < Number(values.most); )
      tried.push(...left.splice(random.below(left.length), 1));
    writeFileSync(`${folder}/${name}.txt`, "");
    const runner = new Runner(values.tests ?? tests);
    let killed = 0;
    try {
      await runner.begin();
      for (const mutant of tried) {
        const failed = await runner.firstToFail(mutant);
        if (failed !== null) killed++;
        const line = `${failed === null ? "survives" : "killed"}: ${described(mutant)}`;
        if (failed === null) console.log(`- ${line}`);
        appendFileSync(`${folder}/${name}.txt`, `${line}${failed === null ? "" : `\n  by ${failed}`}\n`);
      }
    } finally {
      await runner.end();
    }
    const score = tried.length === 0 ? "–" : `${((100 * killed) / tried.length).toFixed(0)} %`;
    print(
      `| ${name} | ${possible.length} | ${possible.length - all.length} | ${tried.length} | ${killed} | ${score} |`,
    );
  }
}

/** Runs the tests of a place in a process of its own, which is replaced when a mutant keeps it busy for ever. */
class Runner {
  readonly #tests: readonly string[];
  #child: ChildProcess | null = null;
  #limitMs = 600_000;

  constructor(tests: readonly string[]) {
    this.#tests = tests;
  }

  /** The tests must pass as they are; how long they take says when a mutant loops. */
  async begin(): Promise<void> {
    await this.#ask(null);
    const began = performance.now();
    const failed = await this.#ask(null);
    if (failed !== null) throw new Error(`${failed} fails without a mutation`);
    this.#limitMs = 15_000 + 5 * (performance.now() - began);
  }

  async firstToFail({ path, start, end, becomes }: Mutant): Promise<string | null> {
    const text = readFileSync(root + path, "utf8");
    try {
      writeFileSync(root + path, text.slice(0, start) + becomes + text.slice(end));
      const failed = await this.#ask({ changed: root + path });
      // A busy machine may be the reason.
      return failed?.includes("timed out") === true ? await this.#ask({ changed: root + path }) : failed;
    } finally {
      writeFileSync(root + path, text);
    }
  }

  /** Lets it remove what its tests share, such as a database. */
  async end(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.disconnect();
    const late = setTimeout(() => this.#kill(), 60_000);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    clearTimeout(late);
    this.#child = null;
  }

  /** With the servers that its tests started. */
  #kill(): void {
    const pid = this.#child?.pid;
    this.#child = null;
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  }

  /** Returns the first test file that failed. One that does not end in time fails. */
  async #ask(asked: Asked): Promise<string | null> {
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve) => {
      const answer = (failed: string | null) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(failed);
      };
      const lose = (what: string) => {
        if (this.#child === child) this.#kill();
        answer(what);
      };
      const timer = setTimeout(() => lose("a run that did not end"), this.#limitMs);
      child.on("message", ({ failed }: Answered) => answer(failed));
      child.on("exit", () => {
        this.#child = null;
        answer("a run whose process ended");
      });
      child.send({ asked });
    });
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(`${root}fuzz/mutant-runner.ts`, this.#tests, {
      cwd: root,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("Vitest did not start")));
    });
    child.removeAllListeners();
    this.#child = child;
    return child;
  }
}

function described({ path, line, start, end, becomes }: Mutant): string {
  const text = readFileSync(root + path, "utf8");
  return `${path}:${line}: ${text.slice(start, end)} → ${becomes} in ${text.split("\n")[line - 1]!.trim()}`;
}

/** Its name without the number of its line, which changes with what is written above it. */
function named(mutant: Mutant): string {
  return withoutLine(described(mutant));
}

function withoutLine(described: string): string {
  return described.replace(/:\d+: /, ": ");
}

function survivorsIn(file: string): ReadonlySet<string> {
  const lines = readFileSync(file, "utf8").split("\n");
  const survivors = lines.filter((line) => line.startsWith("survives: "));
  return new Set(survivors.map((line) => withoutLine(line.slice("survives: ".length))));
}

function isExplained({ path, line, start, end, becomes }: Mutant): boolean {
  const text = readFileSync(root + path, "utf8");
  const code = text.split("\n")[line - 1]!.trim();
  const was = text.slice(start, end);
  return equivalents.some(
    (one) => path.endsWith(one.file) && one.code === code && one.was === was && one.becomes === becomes,
  );
}

function mutantsIn(folder: string): Mutant[] {
  if (folder.endsWith(".ts")) return mutantsOf(folder);
  const names = readdirSync(root + folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort()
    .flatMap((name) => mutantsOf(`${folder}/${name}`));
}

function mutantsOf(path: string): Mutant[] {
  const text = readFileSync(root + path, "utf8");
  const found: Mutant[] = [];
  const add = (start: number, end: number, becomes: string) =>
    found.push({ path, line: text.slice(0, start).split("\n").length, start, end, becomes });
  /** The operator stands between its two sides. */
  const swap = (left: { end: number }, operator: string, right: { start: number }) => {
    const other = others[operator];
    const at = text.indexOf(operator, left.end);
    if (other !== undefined && at !== -1 && at < right.start) add(at, at + operator.length, other);
  };
  new Visitor({
    BinaryExpression: ({ left, operator, right }) => swap(left, operator, right),
    LogicalExpression: ({ left, operator, right }) => swap(left, operator, right),
    UnaryExpression: ({ operator, start, argument }) => {
      if (operator === "!") add(start, argument.start, "");
    },
    IfStatement: ({ test }) => add(test.start, test.end, "false"),
  }).visit(parseSync(path, text).program);
  return found;
}
