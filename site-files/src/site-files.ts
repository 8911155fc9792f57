import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

const unzip = promisify(gunzip);

/** The site loads nothing from elsewhere, runs no inline code, and no other page can frame it. */
export const sitePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
/** No part begins with a dot, so none leads out of the folder. */
const validPath = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** How the system says that there is no such file. */
const absences: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ENAMETOOLONG"]);

/** A file that browsers load, with its compressed form. */
export interface SiteFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

export interface MissingPage {
  readonly status: 404;
  readonly headers: Readonly<Record<string, string>>;
  readonly page: Buffer;
}

/** The answer while the documentation is still being built, which happens beside the running product: browsers ask again. */
export const notBuilt = {
  status: 503,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": sitePolicy,
    "cache-control": "no-store",
    "retry-after": "10",
    refresh: "10",
  },
  page: `<!doctype html>
<meta charset="utf-8">
<title>Documentation · 文档</title>
<h1>The documentation is being built</h1>
<p>It takes about a minute after the first start. This page looks again every ten seconds. If nothing comes, run
<code>node scripts/documentation.mjs</code>: it says why. The same pages are Markdown files in <code>docs/</code>.</p>
<h1 lang="zh-CN">正在生成文档</h1>
<p lang="zh-CN">首次启动后大约需要一分钟，本页每十秒自动刷新。若一直没有出现，请运行
<code>node scripts/documentation.mjs</code> 查看原因。<code>docs/</code> 目录里有同样内容的 Markdown 文件。</p>
`,
} as const;

/** The documentation of both products, as the build wrote it. Each file is read at its first request. */
export class SiteFiles {
  readonly #folders: readonly string[];
  readonly #files = new Map<string, SiteFile>();
  /** The folder that the files are of, and when it was built. */
  #build = "";

  /**
   * In the repository the site is where the build writes it; a published package has it in its root. The first goes
   * before, because packing copies the site into the root, file by file, and removes it again.
   */
  constructor(packageRoot: string, built = fileURLToPath(new URL("../../site/dist", import.meta.url))) {
    this.#folders = [built, join(packageRoot, "site")];
  }

  /** Whether the site is there. It may come, and a newer one may replace it, while the product runs. */
  async isBuilt(): Promise<boolean> {
    return (await this.#folder()) !== undefined;
  }

  /** The file of an address below `/docs/`; undefined if there is none. */
  async file(path: string): Promise<SiteFile | undefined> {
    const folder = await this.#folder();
    if (folder === undefined) return undefined;
    const name = fileName(path);
    const kept = this.#files.get(name);
    if (kept !== undefined) return kept;
    // A router may have cut the slash at the end of a folder's address.
    const file = (await readSiteFile(folder, name)) ?? (await readSiteFile(folder, `${path}/index.html`));
    if (file !== undefined) this.#files.set(name, file);
    return file;
  }

  /** What people get whose browser asks for a page that is not there; undefined for programs. `Accept` decides. */
  async missing(accept: string | undefined): Promise<MissingPage | undefined> {
    const file = accept?.includes("text/html") ? await this.file("404") : undefined;
    if (file === undefined) return undefined;
    const headers = {
      "content-type": file.type,
      "content-security-policy": sitePolicy,
      "cache-control": "no-store",
    };
    return { status: 404, headers, page: file.plain };
  }

  /** Pages and what they load must be of one build, so what is kept of another one goes. */
  async #folder(): Promise<string | undefined> {
    for (const folder of this.#folders) {
      const page = await stat(join(folder, "index.html")).catch(() => undefined);
      if (page === undefined) continue;
      const build = `${folder} ${page.mtimeMs}`;
      if (build !== this.#build) this.#files.clear();
      this.#build = build;
      return folder;
    }
    return undefined;
  }
}

/** Addresses of pages have no ending. */
function fileName(path: string): string {
  if (path === "" || path.endsWith("/")) return `${path}index.html`;
  return types[extname(path)] === undefined ? `${path}.html` : path;
}

async function readSiteFile(folder: string, name: string): Promise<SiteFile | undefined> {
  if (!validPath.test(name)) return undefined;
  try {
    // An archive has the compressed form alone. Other files beside the pages have none.
    const gzip = await readFile(join(folder, `${name}.gz`));
    const plain = await unzip(gzip);
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    return { type: types[extname(name)]!, etag, plain, gzip };
  } catch (error) {
    if (absences.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}
