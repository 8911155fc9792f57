import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const docs = fileURLToPath(new URL("../docs/", import.meta.url));
const run = promisify(execFile);

/** A block of commands in a guide. Blocks that begin with ```sh run in a test; those with ```sh no-run do not. */
export interface GuideCommands {
  /** The page and the line of its first command, such as "locallm/api.md:19". */
  readonly place: string;
  readonly script: string;
  readonly runs: boolean;
}

/** The blocks of all pages in a folder of docs/, or of docs/ itself. What a Chinese page repeats as it is counts once. */
export function commandsIn(folder: string): GuideCommands[] {
  const pages = readdirSync(join(docs, folder)).filter((name) => name.endsWith(".md"));
  const read = (page: string) => readFileSync(join(docs, folder, page), "utf8");
  return pages.flatMap((page) => {
    const text = read(page);
    const english = page.endsWith(".zh.md") ? read(page.replace(".zh.md", ".md")) : "";
    return [...text.matchAll(/^( *)```sh( no-run)?\n(.*?)^ *```$/gms)]
      .filter(([block]) => !english.includes(block))
      .map(({ 1: indent, 2: mark, 3: script, index }) => ({
        place: `${join(folder, page)}:${text.slice(0, index).split("\n").length + 1}`,
        script: script!.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
        runs: mark === undefined,
      }));
  });
}

/** The words of each call of a program in a block, without its name. */
export function callsOf(program: string, { script }: GuideCommands): string[][] {
  const start = `(?:^|[|(&] ?)(?:sudo )?(?:-u \\S+ )?(?:\\w+=(?:'[^']*'|"[^"]*"|\\S)* )*${program} `;
  return script
    .replaceAll(/\\\n/g, "")
    .split("\n")
    .flatMap((line) => [...line.matchAll(new RegExp(`${start}([^#|<>()&]*)`, "g"))])
    .map(([, words]) => words!.trim().split(/ +/));
}

export interface GuideProgram {
  readonly name: string;
  /** The module that Node runs for it. */
  readonly main: string;
  /** What `serve` prints when it is ready. `serve` then ends. */
  readonly ready: string;
}

/**
 * Runs a block with bash as a reader would, in an empty home folder. `curl` fails for every status from 400 on. Throws
 * with all output if a command fails.
 */
export async function runCommands(
  { place, script }: GuideCommands,
  program: GuideProgram,
  { home, env }: { readonly home: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  const path = process.env["PATH"] ?? "";
  writeProgram(join(bin, "curl"), `PATH='${path}' exec curl --fail-with-body -sS "$@"`);
  const node = `'${process.execPath}' -C source '${program.main}'`;
  writeProgram(
    join(bin, program.name),
    `[ "$1" = serve ] || exec ${node} "$@"
out=$(mktemp)
LOCALLM_HOST=127.0.0.1:0 ${node} "$@" > "$out" 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && ! grep -q '${program.ready}' "$out"; do sleep 0.1; done
kill $pid 2>/dev/null
wait $pid
cat "$out"
grep -q '${program.ready}' "$out"`,
  );
  const all = { ...process.env, ...env, HOME: home, PATH: `${bin}${delimiter}${path}` };
  try {
    const { stdout } = await run("bash", ["-euc", script], { cwd: home, env: all, encoding: "utf8" });
    return stdout;
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout: string; stderr: string };
    throw new Error(`docs/${place} fails:\n${script}\n${stdout}\n${stderr}`, { cause });
  }
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}
