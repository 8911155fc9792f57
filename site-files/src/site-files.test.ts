import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { SiteFiles } from "./site-files.ts";

const root = mkdtempSync(join(tmpdir(), "site-files-"));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "site", "zh.html"), { recursive: true });
for (const name of [
  "../secret.txt",
  "index.html",
  "404.html",
  "zh/index.html",
  "zh/a-b.c.html",
  "notes.txt",
]) {
  mkdirSync(join(root, "site", name, ".."), { recursive: true });
  // An archive has the compressed form alone, but for the first page.
  if (name !== "notes.txt") writeFileSync(join(root, "site", name), name);
  writeFileSync(join(root, "site", `${name}.gz`), gzipSync(name));
}
writeFileSync(join(root, "site", "alone.txt"), "without a compressed form");
const files = new SiteFiles(root, join(root, "none"));

it.each([
  ["", "index.html"],
  ["zh/", "zh/index.html"],
  ["zh", "zh/index.html"],
  ["zh/a-b.c", "zh/a-b.c.html"],
  ["notes.txt", "notes.txt"],
])("%j is %s", async (path, name) => {
  const file = (await files.file(path))!;
  expect([String(file.plain), String(gunzipSync(file.gzip))]).toEqual([name, name]);
  expect(await files.file(path)).toBe(file);
});

it.each([
  ...[
    "..",
    "../secret.txt",
    "zh/../notes.txt",
    "zh/..%2fsecret.txt",
    "/notes.txt",
    "zh//index",
    "./notes.txt",
  ],
  ...["\0", "notes.txt\0", "alone.txt", "notes.txt/", "notes.txt/x", "法规", "💥", " ", "constructor"],
  ...["a".repeat(300), `${"a/".repeat(5_000)}b`, "C:\\notes.txt", ".gz", "index.html.gz"],
])("%j is no page", async (path) => {
  expect(await files.file(path)).toBeUndefined();
});

it("a browser gets a page that says that there is none, a program does not", async () => {
  const missing = (await files.missing("text/html,application/xhtml+xml,*/*;q=0.8"))!;
  expect([missing.status, String(missing.page), missing.headers["cache-control"]]).toEqual([
    404,
    "404.html",
    "no-store",
  ]);
  for (const accept of [undefined, "*/*", "application/json"])
    expect(await files.missing(accept)).toBeUndefined();
});

it("a site that is built later, or again, is found without a restart", async () => {
  const files = new SiteFiles(root, join(root, "none"));
  expect(await files.isBuilt()).toBe(true);
  expect(String((await files.file("notes.txt"))?.plain)).toBe("notes.txt");
  rmSync(join(root, "site", "index.html"));
  expect(await files.isBuilt()).toBe(false);
  expect(await files.file("")).toBeUndefined();
  writeFileSync(join(root, "site", "notes.txt.gz"), gzipSync("of the new site"));
  writeFileSync(join(root, "site", "index.html"), "again");
  writeFileSync(join(root, "site", "index.html.gz"), gzipSync("again"));
  const texts = [await files.file(""), await files.file("notes.txt")].map((file) => String(file?.plain));
  expect([await files.isBuilt(), ...texts]).toEqual([true, "again", "of the new site"]);
});
