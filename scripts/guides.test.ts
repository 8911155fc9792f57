import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandsIn } from "../testing/guide-commands.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { slugOf } = (await import(`${root}site/scripts/pages.mjs`)) as { slugOf(heading: string): string };
const { groups, unlisted } = (await import(`${root}site/scripts/outline.mjs`)) as {
  groups: { pages: string[] }[];
  unlisted: string[];
};
const pages = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((path) => existsSync(join(root, path)));
const read = (path: string) => readFileSync(join(root, path), "utf8");

function anchorsOf(path: string): Set<string> {
  const headings = read(path)
    .replaceAll(/^```.*?^```/gms, "")
    .matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading]) => slugOf(heading!)));
}

describe("the repository's pages", () => {
  it.each(pages)("%s has no marks of a merge, and its links lead somewhere", (page) => {
    const text = read(page);
    expect(text).not.toMatch(/<<<<<<<|>>>>>>>|> > > > >/);
    const prose = text.replaceAll(/^ *```.*?^ *```/gms, "").replaceAll(/`[^`\n]*`/g, "");
    for (const [, href] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?|mailto):/.test(href!)) continue;
      const [path = "", anchor] = href!.split("#");
      const target = path === "" ? page : normalize(join(dirname(page), path));
      expect(existsSync(join(root, target)), `${page} → ${href}`).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(target), `${page} → ${href}`).toContain(anchor);
    }
  });

  it("are all on the site, in one place, and in the index, docs/README.md", () => {
    const guides = pages
      .filter(
        (page) => /^docs\/(?:[^/]+|locallm\/[^/]+|dataq\/[^/]+)\.md$/.test(page) && !page.endsWith(".zh.md"),
      )
      .map((page) => page.slice("docs/".length, -".md".length));
    expect(guides.length).toBeGreaterThan(35);
    const listed = [...groups.flatMap((group) => group.pages), ...unlisted];
    expect(listed.toSorted()).toEqual(guides.toSorted());
    const index = read("docs/README.md");
    expect(guides.filter((page) => page !== "README" && !index.includes(`(${page}.md)`))).toEqual([]);
  });

  it.each(["", "locallm", "dataq"])("the commands in docs/%s are valid for bash", (folder) => {
    for (const { place, script } of commandsIn(folder)) {
      const check = () => execFileSync("bash", ["-n"], { input: script, stdio: ["pipe", "pipe", "pipe"] });
      expect(check, place).not.toThrow();
    }
  });
});

it("the messages in the troubleshooting page are messages of the product", () => {
  const sources = execFileSync("git", ["ls-files", "locallm/src", "autostart/src", "scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  const text = sources
    .trim()
    .split("\n")
    .filter((path) => /(?<!\.test)\.(?:ts|mjs)$/.test(path) && existsSync(join(root, path)))
    .map(read)
    .join("\n")
    .replaceAll(/\$?\{(?:\w+\|[^|}]*\|)?([^{}]*)\}/g, " $1");
  const cells = [...read("docs/locallm/troubleshooting.md").matchAll(/^\| (`.*?) +\|/gm)];
  const parts = cells
    .flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)])
    .flatMap(([, message]) => message!.split("…"))
    .map((part) => part.replaceAll(/^[\s"':,)(]+|[\s"':,)(=]+$/g, ""));
  expect(parts.length).toBeGreaterThan(30);
  // Of npm, and of engines.
  const others = ["EACCES", "npm install --global", "unknown model architecture"];
  expect(parts.filter((part) => !text.includes(part) && !others.includes(part))).toEqual([]);
});

describe("the pages of settings list every setting", () => {
  it.each([
    ["locallm/src/config.ts", "docs/locallm/configuration.md", /\bsetting\(\s*"(\w+)"/g],
    ["dataq/service/src/config.ts", "docs/dataq/operating.md", /\b((?:DATAQ|DATABASE|SMTP)_\w+)\b/g],
  ])("%s", (source, page, pattern) => {
    const names = new Set([...read(source).matchAll(pattern)].map(([, name]) => name!));
    expect(names.size).toBeGreaterThan(10);
    const rows = read(page).matchAll(/^\| (`[A-Z][^|]*`) +\|/gm);
    const listed = new Set(
      [...rows].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)),
    );
    const forTests = ["DATAQ_FAILPOINT"];
    expect([...names].filter((name) => !listed.has(name) && !forTests.includes(name))).toEqual([]);
  });
});
