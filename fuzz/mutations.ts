import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createVitest, type TestSpecification, type Vitest } from "vitest/node";
import { type Equivalent, equivalents } from "./equivalent-mutants.ts";
import { folderVariable, type Loaded, loadedVariable, type Note, type Plan } from "./mutant-plan.ts";
import { described, type Mutant, mutantsIn, root, switched, withoutLine } from "./mutants.ts";
import { Random } from "./random.ts";

export const title = "Mutations: one operator changed at a time, and whether a test fails";

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
    tests: ["dataq/service/src/operations/legal/citation-check", "dataq/service/test/laws.test.ts"],
  },
  ranking: {
    sources: ["dataq/service/src/search/bm25.ts", "dataq/service/src/search/postings/ranking"],
    tests: ["dataq/service/src/search"],
  },
};

/**
 * Writes how each mutant died into a file for each place. `--only` names one place, `--file` the files whose path
 * contains it; `--most` bounds the mutants of each place, chosen by `--seed` (1). `--again` names such a file of an
 * earlier run, whose survivors are tried instead.
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
      most: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      again: { type: "string" },
    },
  });
  if (values.only !== undefined && !(values.only in places))
    throw new Error(`--only must be one of ${Object.keys(places).join(", ")}, not ${values.only}.`);
  const again = values.again === undefined ? null : survivorsIn(values.again);
  print("| place | possible | the same | tried | killed | score | reached by no test | alone |");
  print("| --- | --: | --: | --: | --: | --: | --: | --: |");
  for (const [name, { sources, tests }] of Object.entries(places)) {
    if (values.only !== undefined && values.only !== name) continue;
    const possible = sources.flatMap(mutantsIn).filter(({ path }) => path.includes(values.file));
    const explained = new Set(possible.map(explanationOf));
    for (const one of equivalents)
      if (possible.some(({ path }) => path.endsWith(one.file)) && !explained.has(one))
        console.log(`- explained, but there is no such mutant: ${one.file}: ${one.code}`);
    const all = possible.filter((mutant) => explanationOf(mutant) === undefined);
    const wanted = all.filter((mutant) => again?.has(withoutLine(described(mutant))) ?? true);
    const random = new Random(Number(values.seed));
    const tried = [...wanted];
    while (tried.length > Number(values.most)) tried.splice(random.below(tried.length), 1);
    const trial = new Trial(tried, folder);
    await trial.run(tests);
    const lines = tried.map((mutant, at) => {
      const by = trial.killed.get(at + 1);
      return by === undefined ? `survives: ${described(mutant)}` : `killed: ${described(mutant)}\n  by ${by}`;
    });
    writeFileSync(`${folder}/${name}.txt`, `${lines.sort().join("\n")}\n`);
    for (const line of lines) if (line.startsWith("survives: ")) console.log(`- ${line}`);
    const killed = trial.killed.size;
    const score = tried.length === 0 ? "–" : `${((100 * killed) / tried.length).toFixed(0)} %`;
    print(
      `| ${[name, possible.length, possible.length - all.length, tried.length, killed, score, trial.unreached, trial.alone].join(" | ")} |`,
    );
  }
}

/** Tests that take longer, in milliseconds, wait until the quicker ones have killed what they can. */
const rounds = [100, 2_000, Number.MAX_SAFE_INTEGER];

/** Its number turns none on. */
const noMutant = 0;

/** The tests of a place with each of its mutants. A mutant's number is one more than its index. */
class Trial {
  /** How each mutant died. */
  readonly killed = new Map<number, string>();
  /** How many were tried in a process of their own. */
  alone = 0;
  readonly #mutants: readonly Mutant[];
  readonly #folder: string;
  readonly #done: string[] = [];
  /** The mutants that each test has begun with. */
  readonly #begun: Record<string, number[]> = {};
  /** Files with tests that wait for a later round. */
  #waiting: readonly TestSpecification[] = [];
  /** The files that reach a mutant, whether in a test or before one. */
  readonly #files = new Map<number, Set<TestSpecification>>();
  /** Those that a test reaches, but not only there or not each time. */
  readonly #unsure = new Set<number>();
  readonly #passing = new Map<TestSpecification, boolean>();

  constructor(mutants: readonly Mutant[], folder: string) {
    this.#mutants = mutants;
    this.#folder = folder;
  }

  get unreached(): number {
    return this.#mutants.length - this.#files.size;
  }

  async run(tests: readonly string[]): Promise<void> {
    this.#prepare();
    const vitest = await startVitest(tests.some((test) => test.startsWith("dataq/")));
    try {
      this.#waiting = await vitest.globTestSpecifications([...tests]);
      for (const mostMs of rounds) {
        const files = this.#waiting;
        this.#waiting = [];
        for (const file of files) await this.#switch(vitest, file, mostMs);
      }
      for (const mutant of this.#unsure) if (!this.killed.has(mutant)) await this.#tryAlone(vitest, mutant);
    } finally {
      await vitest.close();
    }
  }

  #prepare(): void {
    const numbered = this.#mutants.map((mutant, at) => [at + 1, mutant] as const);
    const texts = Object.entries(Object.groupBy(numbered, ([, { path }]) => path)).map(
      ([path, of = []]) => [pathToFileURL(root + path).href, switched(path, new Map(of))] as const,
    );
    const loaded: Loaded = { count: this.#mutants.length, texts: Object.fromEntries(texts) };
    writeFileSync(`${this.#folder}/loaded.json`, JSON.stringify(loaded));
    process.env[loadedVariable] = `${this.#folder}/loaded.json`;
    process.env[folderVariable] = this.#folder;
  }

  /** Runs the tests of a file with all mutants that they reach, in as many processes as this takes. */
  async #switch(vitest: Vitest, file: TestSpecification, mostMs: number): Promise<void> {
    for (let first: number | null = null; ; ) {
      const wanted = this.#mutants.map((_, at) => at + 1).filter((mutant) => !this.killed.has(mutant));
      const notes = await this.#ask(vitest, file, { wanted, mostMs, first });
      if (notes.some(({ kind }) => kind === "later") && !this.#waiting.includes(file))
        this.#waiting = [...this.#waiting, file];
      const last = notes.at(-1);
      if (last?.kind === "end") return;
      first = last?.kind === "renew" ? last.first : null;
      if (last?.kind === "begins") this.killed.set(last.mutant, "a process that ended");
      else if (last?.kind !== "renew" && last?.kind !== "killed")
        throw new Error(`${file.moduleId} ended after ${JSON.stringify(last)}`);
    }
  }

  async #tryAlone(vitest: Vitest, mutant: number): Promise<void> {
    this.alone++;
    for (const file of this.#files.get(mutant) ?? []) {
      if (!(await this.#passesAlone(vitest, file))) continue;
      const notes = await this.#ask(vitest, file, { alone: mutant });
      if (notes.at(-1)?.kind === "end") continue;
      if (!this.killed.has(mutant)) this.killed.set(mutant, "a process that ended");
      return;
    }
  }

  /** Whether the tests of a file pass without a mutant. What fails anyway, on a slow machine for example, tells nothing. */
  async #passesAlone(vitest: Vitest, file: TestSpecification): Promise<boolean> {
    const known = this.#passing.get(file);
    if (known !== undefined) return known;
    const last = (await this.#ask(vitest, file, { alone: noMutant })).at(-1);
    if (last?.kind !== "end") console.log(`${file.moduleId} fails without a mutant: ${JSON.stringify(last)}`);
    this.#passing.set(file, last?.kind === "end");
    return last?.kind === "end";
  }

  async #ask(vitest: Vitest, file: TestSpecification, asked: Partial<Plan>): Promise<readonly Note[]> {
    const plan: Plan = {
      wanted: [],
      mostMs: 0,
      done: this.#done,
      begun: this.#begun,
      first: null,
      alone: null,
      ...asked,
    };
    writeFileSync(`${this.#folder}/plan.json`, JSON.stringify(plan));
    writeFileSync(`${this.#folder}/notes.jsonl`, "");
    const { unhandledErrors, testModules } = await vitest.runTestSpecifications([file]);
    const lines = readFileSync(`${this.#folder}/notes.jsonl`, "utf8").split("\n").slice(0, -1);
    const notes = lines.map((line) => JSON.parse(line) as Note);
    for (const note of notes) this.#learn(note, file);
    if (notes.length === 0 && plan.alone === null)
      throw new Error(`The tests of ${file.moduleId} do not run.`, {
        cause: [...unhandledErrors, ...testModules.flatMap((module) => module.errors())],
      });
    return notes;
  }

  #learn(note: Note, file: TestSpecification): void {
    if (note.kind === "killed" && note.mutant !== noMutant) this.killed.set(note.mutant, note.by);
    else if (note.kind === "begins")
      this.#begun[note.test] = [...(this.#begun[note.test] ?? []), note.mutant];
    else if (note.kind === "done") {
      this.#done.push(note.test);
      delete this.#begun[note.test];
    } else if (note.kind === "hidden") this.#unsure.add(note.mutant);
    else if (note.kind === "cannot be repeated") {
      console.log(`${note.test} cannot be repeated: ${note.why}`);
      for (const mutant of note.mutants) this.#unsure.add(mutant);
    } else if (note.kind === "reached")
      for (const mutant of note.mutants) {
        this.#files.set(mutant, (this.#files.get(mutant) ?? new Set()).add(file));
        if (note.test === null) this.#unsure.add(mutant);
      }
  }
}

/** Loads modules as Node does, so that threads which the sources start have the mutants too. */
async function startVitest(needsDatabase: boolean): Promise<Vitest> {
  const server = needsDatabase ? ["dataq/service/test/one-server.ts"] : [];
  return createVitest("test", {
    root,
    config: false,
    include: ["**/*.test.ts"],
    globalSetup: [...server, "dataq/service/test/test-run.ts"],
    watch: false,
    pool: "forks",
    maxWorkers: 1,
    execArgv: ["-C", "source", "--import", new URL("mutant-switch.ts", import.meta.url).href],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    runner: fileURLToPath(new URL("mutant-runner.ts", import.meta.url)),
    reporters: [{}],
    silent: true,
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  });
}

function survivorsIn(file: string): ReadonlySet<string> {
  const lines = readFileSync(file, "utf8").split("\n");
  const survivors = lines.filter((line) => line.startsWith("survives: "));
  return new Set(survivors.map((line) => withoutLine(line.slice("survives: ".length))));
}

function explanationOf({ path, line, start, end, becomes }: Mutant): Equivalent | undefined {
  const text = readFileSync(root + path, "utf8");
  const code = text.split("\n")[line - 1]!.trim();
  const was = text.slice(start, end);
  return equivalents.find(
    (one) => path.endsWith(one.file) && one.code === code && one.was === was && one.becomes === becomes,
  );
}
