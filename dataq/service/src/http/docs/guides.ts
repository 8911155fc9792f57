import { readdirSync, readFileSync } from "node:fs";
import { Failure } from "@dataq/contract";

/** The build makes the pages from docs/, see scripts/guides.mjs. */
const folder = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/guides/" : "../../guides/",
  import.meta.url,
);

/** The guides for people, as HTML. Each is read at its first request. */
export class Guides {
  readonly #names = new Set(readdirSync(folder));
  readonly #pages = new Map<string, string>();

  /** Throws `not_found` for an unknown name. */
  page(name: string): string {
    const file = `${name}.html`;
    if (!this.#names.has(file)) throw new Failure("not_found", { what: "The guide" });
    const text = this.#pages.get(name) ?? readFileSync(new URL(file, folder), "utf8");
    this.#pages.set(name, text);
    return text;
  }
}
