import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** One reader of what comes from outside. Each is a file in `locallm/fuzz` or `dataq/service/fuzz`. */
export interface Target {
  /** Files and folders, from the root of the repository, whose branches the reported coverage counts. */
  readonly covers: readonly string[];
  /** Inputs to begin with, beside the corpus. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of the format, beside the texts that are found in the covered sources. */
  readonly words?: readonly string[];
  /** The longest input that is tried, in bytes. Default: 4096. */
  readonly longest?: number;
  /** What one input may take. */
  readonly bounds?: Partial<Bounds>;
  /**
   * Reads an input, and checks what must hold of it. What it throws is a finding, unless `refuses` knows it as the way in
   * which this reader says no.
   */
  read(input: Buffer): unknown;
  refuses?(error: unknown): boolean;
}

/** Processor time and memory: a part that every input may take, and a part for each KiB of it. */
export interface Bounds {
  readonly ms: number;
  readonly msPerKib: number;
  readonly mib: number;
  readonly mibPerKib: number;
}

export const usualBounds: Bounds = { ms: 60, msPerKib: 10, mib: 24, mibPerKib: 1 };

export interface TargetFile {
  readonly name: string;
  readonly path: string;
  /** Inputs that `npm test` reads again. */
  readonly corpus: string;
}

export const root = fileURLToPath(new URL("../", import.meta.url));

export function targetFiles(): TargetFile[] {
  return ["locallm/fuzz", "dataq/service/fuzz"].flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter((file) => file.endsWith(".ts"))
      .sort()
      .map((file) => {
        const name = basename(file, ".ts");
        return { name, path: `${root}${folder}/${file}`, corpus: `${root}${folder}/corpus/${name}.txt` };
      }),
  );
}

export async function loadTarget({ path }: TargetFile): Promise<Target> {
  return ((await import(path)) as { target: Target }).target;
}
