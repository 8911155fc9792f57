import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { routes, summariesZh } from "../dataq/contract/src/wire/index.ts";
import { openApi } from "../locallm/src/http/openapi.ts";

/**
 * The tables of all routes at the end of the API references, for readers of a site that the other product serves, and
 * of the Markdown. `node -C source scripts/routes-doc.ts` writes them.
 */
export const referencePages = (["dataq", "locallm"] as const).flatMap((product) =>
  (["en", "zh"] as const).map((language) => ({
    path: fileURLToPath(
      new URL(`../docs/${product}/reference${language === "zh" ? ".zh" : ""}.md`, import.meta.url),
    ),
    table: table(product, language),
  })),
);

function table(product: "dataq" | "locallm", language: "en" | "zh"): string {
  const rows = (product === "dataq" ? ofDataq() : ofLocallm()).map(
    ({ route, does }) => `| \`${route}\` | ${does[language].replaceAll("|", "\\|")} |`,
  );
  const head = language === "zh" ? "| 路由 | 用途 |" : "| route | what it does |";
  return [head, "| --- | --- |", ...rows].join("\n");
}

interface Line {
  readonly route: string;
  readonly does: { readonly en: string; readonly zh: string };
}

function ofDataq(): Line[] {
  return Object.entries(routes).map(([name, { method, path, summary }]) => ({
    route: `${method} ${path}`,
    does: { en: summary, zh: summariesZh[name as keyof typeof routes] },
  }));
}

function ofLocallm(): Line[] {
  const { paths } = openApi("") as {
    paths: Record<string, Record<string, { summary: string; "x-zh": string }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, "x-zh": zh }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      does: { en: summary, zh },
    })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { path, table } of referencePages) {
    const page = readFileSync(path, "utf8");
    const at = page.search(/^\| /m);
    const [, mark = ""] = /(\n<!-- twin: \w+ -->\s*)$/.exec(page) ?? [];
    const text = at === -1 ? page.slice(0, page.length - mark.length) : page.slice(0, at);
    writeFileSync(path, `${text.trimEnd()}\n\n${table}\n${mark}`);
  }
