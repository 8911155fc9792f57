import { readFileSync } from "node:fs";
import { Failure } from "@dataq/contract";

/** The build makes the pages from docs/, see scripts/guides.mjs. */
const folder = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/guides/" : "../../guides/",
  import.meta.url,
);
const validName = /^[a-z]+(?:[.-][a-z]+)*$/;

/** The guides for people, as HTML. Each is read at its first request. */
export class Guides {
  readonly #pages = new Map<string, string>();

  /** Throws `not_found` for an unknown name. */
  page(name: string): string {
    let text = this.#pages.get(name);
    if (text === undefined) {
      text = readPage(name);
      this.#pages.set(name, text);
    }
    return text;
  }
}

function readPage(name: string): string {
  if (validName.test(name))
    try {
      return readFileSync(new URL(`${name}.html`, folder), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  throw new Failure("not_found", { what: "The guide" });
}
