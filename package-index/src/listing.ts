/** A file that an index lists. */
export interface ListedFile {
  readonly file: string;
  readonly url: URL;
  /** 64 hexadecimal digits; null if the index says none. */
  readonly sha256: string | null;
  readonly isYanked: boolean;
}

/** Reads the answer of an index, PEP 691's JSON or PEP 503's page. Throws a SyntaxError for what is neither. */
export function filesIn(body: string, contentType: string, base: URL): ListedFile[] {
  return /json/i.test(contentType) ? fromJson(JSON.parse(body), base) : fromPage(body, base);
}

function fromJson(answer: unknown, base: URL): ListedFile[] {
  const { files } = (answer ?? {}) as { files?: unknown };
  if (!Array.isArray(files)) throw new SyntaxError("no files");
  return files.flatMap((one: unknown) => {
    const { filename, url, hashes, yanked } = (one ?? {}) as Record<string, unknown>;
    if (typeof filename !== "string" || typeof url !== "string" || !URL.canParse(url, base.href)) return [];
    const { sha256 } = (hashes ?? {}) as { sha256?: unknown };
    const isYanked = yanked === true || typeof yanked === "string";
    return [{ file: filename, url: new URL(url, base), sha256: digestIn(sha256), isYanked }];
  });
}

function fromPage(page: string, base: URL): ListedFile[] {
  return Array.from(page.matchAll(/<a\s([^>]*)>/gi), ([, attributes = ""]) => attributes).flatMap(
    (attributes) => {
      const [, , quoted] = /(?:^|\s)href\s*=\s*(["'])(.*?)\1/is.exec(attributes) ?? [];
      const href = quoted?.replaceAll("&amp;", "&").trim();
      if (!href || !URL.canParse(href, base.href)) return [];
      const url = new URL(href, base);
      const [, sha256] = /^#sha256=(\w+)/.exec(url.hash) ?? [];
      url.hash = "";
      const file = lastPart(url);
      return file === null
        ? []
        : [{ file, url, sha256: digestIn(sha256), isYanked: /(?:^|\s)data-yanked\b/i.test(attributes) }];
    },
  );
}

function digestIn(value: unknown): string | null {
  return typeof value === "string" && /^[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : null;
}

function lastPart({ pathname }: URL): string | null {
  try {
    return decodeURIComponent(pathname.split("/").pop() ?? "") || null;
  } catch {
    return null;
  }
}
