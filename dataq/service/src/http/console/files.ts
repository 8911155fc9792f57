import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Language } from "@dataq/contract";

/** A file of the built console, ready to be sent. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
  readonly etag: string;
}

/** Paths of the files of the page for visitors. */
export interface WelcomeFiles {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
}

export interface ConsoleFiles {
  /** The page that all paths of the console return, in each language. */
  readonly pages: Readonly<Record<Language, string>>;
  readonly welcome: WelcomeFiles;
  /** By path below /console/. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
};

/**
 * Reads the console once at the start: it is a megabyte, and no request should wait for the disk. Undefined
 * if the console is not built.
 */
export function readConsole(): ConsoleFiles | undefined {
  const folder = findConsole();
  if (folder === undefined) return undefined;
  const assets = new Map<string, ConsoleFile>();
  for (const path of filesBelow(folder)) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    const bytes = readFileSync(path);
    const beside = (ending: string) => (existsSync(path + ending) ? readFileSync(path + ending) : undefined);
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    assets.set(relative(folder, path).split(sep).join("/"), {
      type,
      bytes,
      gzip: beside(".gz"),
      brotli: beside(".br"),
      etag,
    });
  }
  const page = readFileSync(join(folder, "index.html"), "utf8");
  const pathOf = (name: RegExp) => {
    const path = [...assets.keys()].find((each) => name.test(each));
    if (path === undefined)
      throw new Error(`The build of the console has no ${name.source}; build it again.`);
    return `/console/${path}`;
  };
  const welcome = {
    style: pathOf(/^assets\/welcome-[^/]+\.css$/),
    script: pathOf(/^assets\/welcome-[^/]+\.js$/),
    icon: pathOf(/^assets\/mark-[^/]+\.svg$/),
  };
  return { welcome, pages: { en: without(page, "zh"), zh: without(page, "en") }, assets };
}

/** Removes the preloads of other languages from the page. A reader needs only one. */
function without(page: string, language: Language): string {
  return page.replaceAll(new RegExp(`\\s*<link [^>]*hreflang="${language}"[^>]*>`, "g"), "");
}

/**
 * Finds the built console. In the published package it is next to the code; in the repository it is where the
 * build writes it.
 */
function findConsole(): string | undefined {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  return [join(root, "console"), join(root, "..", "console", "dist")].find((folder) =>
    existsSync(join(folder, "index.html")),
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
