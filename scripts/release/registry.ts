import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import type { Entry } from "./tree.ts";

/** A package of the registry, with the digest that its tarball must have. */
export interface Wanted {
  readonly name: string;
  readonly version: string;
  readonly integrity: string | undefined;
}

/** The registry does not have this package, or gives other bytes than the lock file says. */
export class NotAvailable extends Error {
  override readonly name = "NotAvailable";
}

const run = promisify(execFile);

/** Downloads tarballs with npm, which knows the user's registry and keeps a cache, and checks each. */
export class Registry {
  readonly #folder: string;

  /** Tarballs stay in this folder, so that the next run needs no network. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Downloads all of these with few calls of npm, since each takes half a second. */
  async fetchAll(wanted: readonly Wanted[]): Promise<void> {
    const missing = wanted.filter((each) => !existsSync(this.#pathOf(each)));
    for (let at = 0; at < missing.length; at += 40)
      await this.#pack(missing.slice(at, at + 40)).catch(() => {
        // One of them is not there. `files` asks for each alone and says which.
      });
  }

  /** The files of a package, by their paths in it. Throws `NotAvailable`. */
  async files(wanted: Wanted): Promise<Map<string, Extract<Entry, { bytes: Buffer }>>> {
    const { name, version, integrity } = wanted;
    if (integrity === undefined)
      throw new NotAvailable(
        `${name} ${version} has no digest in package-lock.json, because the registry of whoever wrote it did not have this package`,
      );
    const path = this.#pathOf(wanted);
    if (!existsSync(path)) await this.#pack([wanted]);
    const packed = readFileSync(path);
    const [algorithm = "", digest] = integrity.split("-");
    if (createHash(algorithm).update(packed).digest("base64") !== digest) {
      rmSync(path);
      throw new NotAvailable(`the registry's ${name} ${version} is not the one of package-lock.json`);
    }
    const entries = await unpackTar(gunzipSync(packed), { strip: 1 });
    return new Map(
      entries
        .filter(({ header }) => header.type === undefined || header.type === "file")
        .map(({ header, data }) => [
          header.name,
          { bytes: Buffer.from(data ?? []), isProgram: ((header.mode ?? 0) & 0o100) !== 0 },
        ]),
    );
  }

  #pathOf({ name, version }: Wanted): string {
    return join(this.#folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  }

  async #pack(wanted: readonly Wanted[]): Promise<void> {
    const partial = join(this.#folder, `${process.pid}.partial`);
    mkdirSync(partial, { recursive: true });
    const specs = wanted.map(({ name, version }) => `${name}@${version}`);
    try {
      await npm(["pack", "--silent", "--prefer-offline", "--pack-destination", partial, ...specs]);
      for (const each of wanted) {
        const path = this.#pathOf(each);
        renameSync(join(partial, path.slice(this.#folder.length + 1)), path);
      }
    } catch (cause) {
      throw new NotAvailable(`the registry has no ${specs.join(", ")}`, { cause });
    } finally {
      rmSync(partial, { recursive: true, force: true });
    }
  }
}

/** npm of the script that runs this, as `scripts/install.mjs` does it. */
async function npm(parameters: readonly string[]): Promise<void> {
  const own = process.env["npm_execpath"];
  if (own !== undefined) await run(process.execPath, [own, ...parameters]);
  else await run("npm", [...parameters], { shell: process.platform === "win32" });
}
