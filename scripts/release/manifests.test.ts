import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { manifestsOf } from "./manifests.ts";

const folder = mkdtempSync(join(tmpdir(), "manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

const address = "https://releases.example/1.2.3";
const files = ["linux-x64.tar.gz", "linux-arm64.tar.gz", "darwin-arm64.tar.gz", "win-x64.zip"];
const digestOf = (at: number) => String(at).repeat(64);
const digests = new Map(files.map((file, at) => [`dataq-1.2.3-${file}`, digestOf(at)]));
digests.set("locallm-1.2.3-linux-x64.tar.gz", digestOf(8));
const made = manifestsOf({ version: "1.2.3", address, digests });

it("each manifest has the digest of each archive that it names, and names none that was not made", () => {
  for (const [path, text] of made) {
    const named = [...text.matchAll(/https:\/\/releases\.example\/1\.2\.3\/([\w.-]+\.(?:tar\.gz|zip))/g)];
    for (const [, file] of named) expect(text.toLowerCase(), path).toContain(digests.get(file!)!);
  }
  expect(made.get("homebrew/dataq.rb")).toContain(`url "${address}/dataq-1.2.3-darwin-arm64.tar.gz"`);
  expect(made.get("homebrew/locallm.rb")).not.toContain("on_macos");
  expect([...made.keys()].filter((path) => /locallm/.test(path))).toEqual([
    "homebrew/locallm.rb",
    "nix/locallm/flake.nix",
  ]);
  expect(JSON.parse(made.get("scoop/dataq.json")!)).toMatchObject({
    architecture: { "64bit": { hash: digestOf(3), extract_dir: "dataq-1.2.3-win-x64" } },
  });
});

for (const [path, program, ...words] of [
  ["aur/dataq-bin/PKGBUILD", "bash", "-n"],
  ["homebrew/dataq.rb", "ruby", "-c"],
  ["nix/dataq/flake.nix", "nix-instantiate", "--parse"],
] as const)
  it.skipIf(spawnSync(program, ["--version"]).error !== undefined)(
    `${path} has no fault of syntax (needs ${program})`,
    () => {
      const file = join(folder, basename(path));
      writeFileSync(file, made.get(path)!);
      const { status, stderr } = spawnSync(program, [...words, file], { encoding: "utf8" });
      expect(status, stderr).toBe(0);
    },
  );
