import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync, Visitor } from "oxc-parser";
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
    tests: ["plan", "reuse", "prefix", "place", "slots"].map((one) => `locallm/src/engine/${one}.test.ts`),
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
 * `--only` names one place, `--most` (40) bounds the mutants of each, chosen by `--seed` (1). A file is changed where it
 * stands and put back after its tests; run it in a work tree that nobody else uses.
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      most: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
    },
  });
  if (values.only !== undefined && !(values.only in places))
    throw new Error(`--only must be one of ${Object.keys(places).join(", ")}, not ${values.only}.`);
  print("| place | possible | tried | killed | score |");
  print("| --- | --: | --: | --: | --: |");
  const survivors: string[] = [];
  for (const [name, { sources, tests }] of Object.entries(places)) {
    if (values.only !== undefined && values.only !== name) continue;
    const all = sources.flatMap(mutantsIn);
    const random = new Random(Number(values.seed));
    const tried: Mutant[] = [];
    for (const left = [...all]; left.length > 0 && tried.length < Number(values.most); )
      tried.push(...left.splice(random.below(left.length), 1));
    if (!(await passes(tests))) throw new Error(`the tests of ${name} fail without a mutation`);
    let killed = 0;
    for (const mutant of tried) {
      const text = readFileSync(root + mutant.path, "utf8");
      try {
        writeFileSync(
          root + mutant.path,
          text.slice(0, mutant.start) + mutant.becomes + text.slice(mutant.end),
        );
        if (await passes(tests))
          survivors.push(
            `${mutant.path}:${mutant.line}: ${text.slice(mutant.start, mutant.end)} → ${mutant.becomes}`,
          );
        else killed++;
      } finally {
        writeFileSync(root + mutant.path, text);
      }
    }
    const score = tried.length === 0 ? "–" : `${((100 * killed) / tried.length).toFixed(0)} %`;
    print(`| ${name} | ${all.length} | ${tried.length} | ${killed} | ${score} |`);
  }
  for (const line of survivors) print(`- survives: ${line}`);
}

/** Whether the tests pass. One that does not end within two minutes fails: a mutant may loop. */
function passes(tests: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`${root}node_modules/vitest/vitest.mjs`, "run", "--maxWorkers=1", "--bail=1", ...tests],
      { cwd: root, timeout: 120_000, killSignal: "SIGKILL" },
      (error) => resolve(error === null),
    );
  });
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
