import { fork } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CorpusEntry, inputOf, lineOf, readCorpus, writeCorpus } from "./corpus.ts";
import type { Finding, Order, Progress, Report } from "./messages.ts";
import { loadTarget, type TargetFile, targetFiles } from "./target.ts";
import { trial } from "./trial.ts";

export const title = "Search: mutated inputs, guided by coverage, for everything that reads from outside";

/**
 * `--minutes` for each target (default 1), `--seed`, `--only TARGET` (several times). `--input LINE` reads one input
 * again, and `--keep` writes the smallest inputs that reach everything into the corpus of the repository.
 */
export async function run(
  print: (line: string) => void,
  folder: string,
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
      input: { type: "string" },
      keep: { type: "boolean", default: false },
    },
  });
  const all = targetFiles();
  const chosen = (values.only ?? all.map(({ name }) => name)).map((name) => {
    const file = all.find((each) => each.name === name);
    if (file === undefined)
      throw new Error(`No target is called ${name}. There are: ${all.map((each) => each.name).join(", ")}.`);
    return file;
  });
  if (values.input !== undefined) {
    for (const file of chosen) await replay(print, file, values.input);
    return;
  }
  print("| target | seed | minutes | inputs read | branches reached | findings |");
  print("|---|--:|--:|--:|--:|--:|");
  const found: string[] = [];
  for (const file of chosen) {
    const searched = await search(file, Number(values.seed), Number(values.minutes), folder);
    const { runs, covered, branches } = searched.progress;
    const share = `${covered} of ${branches} (${Math.round((100 * covered) / Math.max(1, branches))} %)`;
    print(
      `| ${file.name} | ${values.seed} | ${values.minutes} | ${runs} | ${share} | ${searched.findings.length} |`,
    );
    for (const { text, line } of searched.findings)
      found.push(`${text}\n    npm run proof -- search --only ${file.name} --input ${quoted(line)}`);
    if (values.keep) keep(file, searched.corpus);
  }
  for (const each of found) print(`\n${each}`);
  if (found.length > 0) throw new Error(`The search found ${found.length}.`);
}

interface Searched {
  readonly progress: Progress;
  readonly findings: readonly Finding[];
  readonly corpus: readonly string[];
}

/** The longest processor time that one input may take before its process is ended, in seconds. */
const hangSeconds = 30;

/** A process that an input ended, or that an input kept busy, is started again until the time is over. */
async function search(file: TargetFile, seed: number, minutes: number, folder: string): Promise<Searched> {
  const kept = join(folder, `${file.name}.txt`);
  const current = join(folder, `${file.name}.current`);
  const until = performance.now() + minutes * 60_000;
  const findings = new Map<string, Finding>();
  let progress: Progress = { runs: 0, inputs: 0, covered: 0, branches: 0 };
  let corpus = [...readCorpus(file.corpus), ...readCorpus(kept)].map(({ input }) => lineOf(input));
  for (let round = 0; performance.now() < until; round += 1) {
    const left = (until - performance.now()) / 60_000;
    const { reports, end } = await runnerOf({ file, seed: seed + round, minutes: left, corpus, current });
    for (const { finding } of reports.filter((each) => each.kind === "finding"))
      findings.set(finding.key, finding);
    if (reports.length === 0 && statSync(current).size === 0)
      throw new Error(`The search of ${file.name} does not start: ${end}`);
    const last = reports.findLast((each) => each.kind !== "finding");
    if (last !== undefined) progress = { ...last.progress, runs: progress.runs + last.progress.runs };
    if (last?.kind === "end") {
      corpus = [...last.corpus];
      writeCorpus(
        kept,
        corpus.map((line) => ({ input: inputOf(line), found: undefined })),
      );
      break;
    }
    const line = lineOf(readFileSync(current));
    findings.set(end, { key: end, text: `the process ended: ${end}`, line });
    corpus = corpus.filter((each) => each !== line);
  }
  return { progress, findings: [...findings.values()], corpus };
}

/** One process. `end` says how it ended. */
function runnerOf(order: Order): Promise<{ reports: Report[]; end: string }> {
  const child = fork(new URL("runner.ts", import.meta.url), {
    execArgv: ["-C", "source", "--max-old-space-size=512", "--max-semi-space-size=32", "--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const reports: Report[] = [];
  let words = "";
  let isHanging = false;
  child.stderr!.on("data", (piece) => {
    words = (words + String(piece)).slice(-20_000);
  });
  child.on("message", (report: Report) => reports.push(report));
  child.send(order);
  let [input, busy] = [0, 0];
  const watch = setInterval(() => {
    const now = statSync(order.current, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const seconds = processorSeconds(child.pid!);
    if (now !== input) [input, busy] = [now, seconds];
    else if (seconds - busy > hangSeconds) {
      isHanging = true;
      child.kill("SIGKILL");
    }
  }, 1_000);
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      clearInterval(watch);
      const why = /FATAL ERROR: (.*?)(?: - |\n|$)|((?:[A-Z]\w*)?Error: .*)/.exec(words)?.[0] ?? "";
      const hang = `an input took over ${hangSeconds} s of processor time`;
      resolve({ reports, end: isHanging ? hang : `${signal ?? `exit code ${code}`} ${why}`.trim() });
    });
  });
}

function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return performance.now() / 1_000;
  }
}

async function replay(print: (line: string) => void, file: TargetFile, line: string): Promise<void> {
  const fault = await trial(await loadTarget(file), inputOf(line));
  if (fault !== undefined) throw new Error(`${file.name}: ${fault.text}`);
  print(`${file.name} reads this input as it should.`);
}

/** Inputs that once broke something stay. */
function keep({ corpus }: TargetFile, lines: readonly string[]): void {
  const broke: CorpusEntry[] = readCorpus(corpus).filter(({ found }) => found !== undefined);
  const known = new Set(broke.map(({ input }) => lineOf(input)));
  const others = lines
    .filter((line) => !known.has(line))
    .map((line) => ({ input: inputOf(line), found: undefined }));
  writeCorpus(corpus, [...broke, ...others]);
}

function quoted(line: string): string {
  return `'${line.replaceAll("'", "'\\''")}'`;
}
