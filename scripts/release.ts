import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tarGz, tarXz, zip } from "./release/archive.ts";
import { contentsOf } from "./release/contents.ts";
import { manifestsOf } from "./release/manifests.ts";
import { packageOf, packagers } from "./release/packages.ts";
import type { Lock } from "./release/parts.ts";
import { type Platform, platforms } from "./release/platforms.ts";
import { type Product, products } from "./release/products.ts";
import { NotAvailable, Registry } from "./release/registry.ts";
import { sbomOf } from "./release/sbom.ts";
import { publicKeyOf, readSecretKey, signatureOf } from "./release/signature.ts";
import { sizesOf } from "./release/sizes.ts";
import type { Tree } from "./release/tree.ts";

/**
 * Makes the archives of both products for all platforms, from a clean tree: `npm run release`. What the registry does
 * not have is named and stops only the archives that need it. The same commit gives the same bytes in any folder.
 *   npm run release -- [--out FOLDER] [--product NAME]… [--platform NAME]… [--address URL] [--no-xz] [--allow-changes]
 */
const root = fileURLToPath(new URL("../", import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: "string", default: "release" },
    product: { type: "string", multiple: true, default: products.map(({ name }) => name) },
    platform: { type: "string", multiple: true, default: platforms.map(({ name }) => name) },
    address: { type: "string" },
    xz: { type: "boolean", default: true },
    "allow-changes": { type: "boolean", default: false },
  },
  allowNegative: true,
});
requireKnown(
  "product",
  values.product,
  products.map(({ name }) => name),
);
requireKnown(
  "platform",
  values.platform,
  platforms.map(({ name }) => name),
);
if (!values["allow-changes"]) requireCleanTree();

const out = resolve(root, values.out);
const version = versionOf("package.json");
for (const { folder } of products)
  if (versionOf(`${folder}/package.json`) !== version)
    throw new Error(
      `${folder}/package.json has another version than package.json. Both products have one version.`,
    );
const time = new Date(Number(git("log", "-1", "--format=%ct")) * 1000);
const { packages: lock } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: Lock;
};

for (const pages of ["../site/scripts/build.mjs", "../dataq/console/scripts/build.mjs"])
  await import(new URL(pages, import.meta.url).href);
mkdirSync(out, { recursive: true });
const registry = new Registry(join(out, "registry"));
const digests: string[] = [];
for (const product of products.filter(({ name }) => values.product.includes(name)))
  for (const platform of platforms.filter(({ name }) => values.platform.includes(name))) {
    const folder = `${product.name}-${version}-${platform.name}`;
    const file = `${folder}.${platform.archive}`;
    rmSync(join(out, file), { force: true });
    try {
      const tree = await contentsOf(product, platform, lock, registry, time);
      const inFolder: Tree = new Map([...tree].map(([path, entry]) => [`${folder}/${path}`, entry]));
      const smaller = values.xz && platform.archive === "tar.gz" ? await tarXz(inFolder, time) : undefined;
      const bytes = await (platform.archive === "zip" ? zip : tarGz)(inFolder, time);
      writeFileSync(join(out, file), bytes);
      const mb = tell(file);
      writeFileSync(join(out, `${folder}.cdx.json`), sbomOf(product, platform, lock, version, time));
      tell(`${folder}.cdx.json`);
      if (mb > product.goalMb)
        console.log(`  more than ${product.goalMb} MB, of which packed: ${sizesOf(tree)}`);
      if (platform.os === "linux") makePackages(product, platform, tree);
      if (smaller !== undefined) await addSmaller(`${folder}.tar.xz`, smaller.packed);
    } catch (error) {
      if (!(error instanceof NotAvailable)) throw error;
      console.log(`${file}: not made, because ${error.message}.`);
    }
  }
cpSync(join(root, "scripts/release/install.sh"), join(out, "install.sh"));
tell("install.sh");
cpSync(join(root, "scripts/release/install.ps1"), join(out, "install.ps1"));
tell("install.ps1");
// "locallm update" shows what is new in it.
cpSync(join(root, "CHANGELOG.md"), join(out, "CHANGELOG.md"));
tell("CHANGELOG.md");
const sums = Buffer.from(digests.map((line) => `${line}\n`).join(""));
writeFileSync(join(out, "SHA256SUMS"), sums);
sign();
writeManifests();

/** For other package managers. They name the address from which the archives are downloaded. */
function writeManifests(): void {
  const { address } = values;
  if (address === undefined) {
    console.log("manifests: not made, because --address does not say where the archives will be.");
    return;
  }
  const known = new Map(digests.map((line) => [line.slice(66), line.slice(0, 64)] as const));
  for (const [path, text] of manifestsOf({ version, address: address.replace(/\/+$/, ""), digests: known })) {
    const file = join(out, "manifests", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`manifests/${path}`);
  }
}

/** With minisign's secret key in RELEASE_SIGNING_KEY. Without it, installers and updates can check digests only. */
function sign(): void {
  const file = join(out, "SHA256SUMS.minisig");
  rmSync(file, { force: true });
  const key = process.env["RELEASE_SIGNING_KEY"];
  if (!key) {
    console.log("SHA256SUMS: not signed, because RELEASE_SIGNING_KEY is not set.");
    return;
  }
  const secret = readSecretKey(key);
  writeFileSync(file, signatureOf(sums, secret, `locallm and dataq ${version}, ${time.toISOString()}`));
  console.log(`SHA256SUMS.minisig: by the key ${publicKeyOf(secret)}`);
}

/** Prints size and digest of a file, and notes the digest. Returns the size in MB. */
function tell(file: string): number {
  const bytes = readFileSync(join(out, file));
  const digest = createHash("sha256").update(bytes).digest("hex");
  digests.push(`${digest}  ${file}`);
  console.log(`${file}: ${(bytes.length / 1e6).toFixed(1)} MB, ${digest}`);
  return bytes.length / 1e6;
}

async function addSmaller(file: string, packed: Promise<Buffer>): Promise<void> {
  rmSync(join(out, file), { force: true });
  try {
    writeFileSync(join(out, file), await packed);
    tell(file);
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    console.log(`${file}: not made, because ${error.message}.`);
  }
}

function makePackages(product: Product, platform: Platform, tree: Tree): void {
  for (const packager of packagers)
    try {
      tell(basename(packageOf(packager, product, platform, tree, version, time, out)));
    } catch (error) {
      if (!(error instanceof NotAvailable)) throw error;
      console.log(`${product.name} ${platform.name} ${packager}: not made, because ${error.message}.`);
    }
}

function requireKnown(option: string, asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  console.error(`--${option} ${unknown.join(", ")}: unknown. Use one of ${known.join(", ")}.`);
  process.exit(2);
}

function requireCleanTree(): void {
  const changes = git("status", "--porcelain");
  if (changes === "") return;
  console.error(
    `A release is made of a commit, and this tree has changes:\n${changes}\nCommit them, or try out with --allow-changes.`,
  );
  process.exit(1);
}

function versionOf(path: string): string {
  return (JSON.parse(readFileSync(join(root, path), "utf8")) as { version: string }).version;
}

function git(...parameters: string[]): string {
  return execFileSync("git", parameters, { cwd: root, encoding: "utf8" }).trim();
}
