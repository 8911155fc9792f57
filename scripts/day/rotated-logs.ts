import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Log files of products, which Debian's `logrotate` rotates. */
export class RotatedLogs {
  readonly #folder: string;
  readonly #names: readonly string[];
  /** Lines of files that were rotated away, by product. */
  readonly lines: Record<string, number> = {};
  /** Messages of errors, by how often they were logged. */
  readonly errors = new Map<string, number>();

  constructor(disk: string, names: readonly string[]) {
    if (spawnSync("logrotate", ["--version"]).error !== undefined)
      throw new Error("This proof needs Debian's package logrotate.");
    this.#folder = join(disk, "logs");
    this.#names = names;
    mkdirSync(this.#folder, { mode: 0o755 });
  }

  /** Starts a program whose standard error goes to the file, as `program 2>> file` does. */
  async into<Life>(name: string, start: (file: number) => Promise<Life>): Promise<Life> {
    const file = openSync(this.#path(name), "a");
    try {
      return await start(file);
    } finally {
      closeSync(file);
    }
  }

  /** With `copytruncate`: the products keep their file and write on. */
  async copy(): Promise<void> {
    this.#rotate(["copytruncate"]);
    await this.#goOn();
  }

  /** The files are moved away, and each process is told with SIGHUP, which makes it stop; its supervisor starts it again. */
  async move(pids: readonly number[]): Promise<void> {
    this.#rotate(["sharedscripts", "postrotate", `kill -HUP ${pids.join(" ")}`, "endscript"]);
    await this.#goOn();
  }

  /** Reads what was not rotated away. */
  end(): void {
    for (const name of this.#names) this.#read(name, this.#path(name));
  }

  #rotate(way: readonly string[]): void {
    const settings = join(this.#folder, "logrotate.conf");
    const paths = this.#names.map((name) => `"${this.#path(name)}"`).join(" ");
    writeFileSync(settings, `${paths} {\n${["rotate 2", "missingok", "nocreate", ...way].join("\n")}\n}\n`, {
      mode: 0o644,
    });
    execFileSync("logrotate", ["--force", "--state", join(this.#folder, "state"), settings], {
      stdio: "pipe",
    });
    for (const name of this.#names) this.#read(name, `${this.#path(name)}.1`);
  }

  /** Throws if a product does not write to its new file within ten minutes. */
  async #goOn(): Promise<void> {
    for (const name of this.#names)
      for (const end = Date.now() + 600_000; this.#size(name) === 0; await sleep(100))
        if (Date.now() > end) throw new Error(`${name} does not write to its log after its rotation`);
  }

  #read(name: string, path: string): void {
    const text = readFileSync(path, "utf8");
    // A file that is truncated below somebody who does not append begins with zeros.
    if (text.includes("\0")) throw new Error(`${path} has zeros in it`);
    this.lines[name] = (this.lines[name] ?? 0) + text.split("\n").length - 1;
    for (const [, message] of text.matchAll(/"err":\{[^\n]*?"message":"((?:[^"\\]|\\.)*)"/g))
      this.errors.set(message!, (this.errors.get(message!) ?? 0) + 1);
  }

  #size(name: string): number {
    return statSync(this.#path(name), { throwIfNoEntry: false })?.size ?? 0;
  }

  #path(name: string): string {
    return join(this.#folder, `${name}.log`);
  }
}
