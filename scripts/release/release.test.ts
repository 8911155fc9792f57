import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { afterAll, expect, it } from "vitest";
import { fromBuffer } from "yauzl";
import { wholeProgram } from "../../dataq/service/src/cli/command-line.ts";
import { smallHeap } from "../../locallm/src/cli/small-heap.ts";
import { tarGz, zip } from "./archive.ts";
import { completions } from "./completions.ts";
import { withoutUnreadTables } from "./icu-data.ts";
import { unixLauncher } from "./launchers.ts";
import { maintainerScripts } from "./maintainer-scripts.ts";
import { manualPage } from "./manual.ts";
import { fittingParts, type Lock } from "./parts.ts";
import { platforms } from "./platforms.ts";
import { products } from "./products.ts";
import { sbomOf } from "./sbom.ts";
import { stripped } from "./strip.ts";
import { isFree, thirdParty } from "./third-party.ts";
import { type Tree, text } from "./tree.ts";
import { sliceFor } from "./universal.ts";

const root = new URL("../../", import.meta.url);
const { packages: lock } = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8")) as {
  packages: Lock;
};
const temporary = mkdtempSync(join(tmpdir(), "release-"));
afterAll(() => rmSync(temporary, { recursive: true }));

const time = new Date("2026-11-28T01:02:04Z");
const long = `${"深".repeat(60)}/${"x".repeat(120)}.js`;
const files: Tree = new Map([
  ["a/z.txt", text("last")],
  ["a/bin/run", text("#!/bin/sh\n", true)],
  ["a/链接", { link: "bin/run" }],
  [`a/${long}`, text("deep")],
  ["a/B.txt", text("")],
]);
const backwards: Tree = new Map([...files].reverse());

it("a tree gives the same archive in any order of its files, with nothing of this machine in it", async () => {
  const packed = await tarGz(files, time);
  expect((await tarGz(backwards, time)).equals(packed)).toBe(true);
  expect([...packed.subarray(4, 8)]).toEqual([0, 0, 0, 0]);
  const entries = await unpackTar(gunzipSync(packed), { strict: true });
  expect(
    entries.map(({ header, data }) => [header.name, header.mode, header.linkname || data?.length]),
  ).toEqual([
    ["a/", 0o755, undefined],
    ["a/bin/", 0o755, undefined],
    [`a/${"深".repeat(60)}/`, 0o755, undefined],
    ["a/B.txt", 0o644, 0],
    ["a/bin/run", 0o755, 10],
    ["a/z.txt", 0o644, 4],
    [`a/${long}`, 0o644, 4],
    ["a/链接", 0o777, "bin/run"],
  ]);
  for (const { header } of entries)
    expect(header).toMatchObject({ uid: 0, gid: 0, uname: "root", gname: "root", mtime: time });
});

it("the system's tar unpacks the archive with its links, modes and long names", async () => {
  writeFileSync(join(temporary, "a.tar.gz"), await tarGz(files, time));
  execFileSync("tar", ["-xzf", "a.tar.gz"], { cwd: temporary });
  expect(readFileSync(join(temporary, "a", long), "utf8")).toBe("deep");
  expect(execFileSync(join(temporary, "a/链接"), { encoding: "utf8" })).toBe("");
});

it("a zip has the same bytes in every time zone, and holds no links", async () => {
  const plain: Tree = new Map([...backwards].filter(([, entry]) => !("link" in entry)));
  const packed = await zip(plain, time);
  const zone = process.env["TZ"];
  process.env["TZ"] = "Asia/Shanghai";
  try {
    expect((await zip(plain, time)).equals(packed)).toBe(true);
  } finally {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  }
  expect(await namesIn(packed)).toEqual(["a/B.txt", "a/bin/run", "a/z.txt", `a/${long}`]);
  await expect(zip(files, time)).rejects.toThrow("a/链接 is a link");
});

function namesIn(packed: Buffer): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const names: string[] = [];
    fromBuffer(packed, (error, file) => {
      if (error) return reject(error);
      file.on("entry", ({ fileName }) => names.push(fileName));
      file.on("end", () => resolve(names));
    });
  });
}

const pairs = products.flatMap((product) => platforms.map((platform) => ({ product, platform })));

it.each(pairs)(
  "$product.name for $platform.name has the native parts of that system only",
  ({ product, platform }) => {
    const { own, others } = fittingParts(lock, product, platform);
    expect(own.map(({ from }) => from)).toEqual(product.packages);
    expect(own.find(({ from }) => from === product.folder)?.to).toBe(`lib/${product.name}`);
    const native = others.filter(({ name }) =>
      /(?:linux|mac|darwin|win32|windows|win)-(?:x64|arm64)/.test(name),
    );
    expect(native.map(({ name }) => name).sort()).toEqual([...product.native(platform)].sort());
    const places = [...own, ...others].map(({ to }) => to);
    expect(new Set(places).size).toBe(places.length);
    for (const to of places) expect(to).toMatch(/^lib\//);
  },
);

it.each(pairs)(
  "the licences of $product.name for $platform.name are known and free",
  ({ product, platform }) => {
    const { others } = fittingParts(lock, product, platform);
    const page = thirdParty(product, platform, lock, others, new Map());
    for (const { name, version } of [platform.node, ...others])
      expect(page).toContain(`| ${name} | ${version} | `);
    const [first] = others;
    expect(() =>
      thirdParty(product, platform, lock, [{ ...first!, license: "BUSL-1.1" }], new Map()),
    ).toThrow(`${first!.name} ${first!.version} (BUSL-1.1)`);
  },
);

it("the list of parts names each with its licence and the digest that the lock file asks for", () => {
  const [product, platform] = [products[0]!, platforms[0]!];
  const { others } = fittingParts(lock, product, platform);
  const { components } = JSON.parse(sbomOf(product, platform, lock, "1.2.3", time)) as {
    components: { name: string; purl?: string; hashes?: { alg: string; content: string }[] }[];
  };
  expect(new Set(components.map((each) => each.purl ?? each.name)).size).toBe(components.length);
  expect(components.length).toBe(others.length + 1 + product.packages.length - 1);
  const fastify = components.find(({ name }) => name === "fastify");
  expect(`sha512-${Buffer.from(fastify!.hashes![0]!.content, "hex").toString("base64")}`).toBe(
    lock["node_modules/fastify"]!.integrity,
  );
  expect(components.map(({ purl }) => purl)).toContain(
    `pkg:npm/%40fastify/error@${lock["node_modules/@fastify/error"]!.version}`,
  );
});

it("a choice of licences is free if one of them is, and several that hold together if all are", () => {
  expect(["MIT", "(MIT OR GPL-2.0)", "MIT AND ISC"].map(isFree)).toEqual([true, true, true]);
  expect(["GPL-3.0", "MIT AND SSPL-1.0", "unknown", "UNLICENSED"].map(isFree)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it.skipIf(process.platform !== "linux")("a program without what debuggers read is shorter and runs", () => {
  const file = join(temporary, "stripped node");
  const whole = readFileSync(process.execPath);
  const short = stripped(whole);
  writeFileSync(`${file}.made`, short, { mode: 0o755 });
  // A program that another thread starts meanwhile has this one open for writing, and then it cannot run; its copy can.
  execFileSync("cp", [`${file}.made`, file]);
  expect(short.length).toBeLessThanOrEqual(whole.length);
  const asked =
    'new Intl.NumberFormat("zh-CN-u-nu-hanidec").format(42) + typeof WebAssembly + process.version';
  expect(execFileSync(file, ["-p", asked], { encoding: "utf8" })).toBe(`四二object${process.version}\n`);
  const script = Buffer.from("#!/bin/sh\n".repeat(10));
  expect(stripped(script)).toBe(script);
});

it("locallm's archive runs Node with the options of its server", () => {
  expect(products.find(({ name }) => name === "locallm")?.nodeOptions).toEqual(smallHeap);
});

it.skipIf(process.platform === "win32")(
  "the launcher finds its folder through links and from any place, and passes arguments on as they are",
  () => {
    const folder = join(temporary, "a folder 中文 $x");
    const write = (path: string, content: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { mode: 0o755 });
    };
    const [product] = products;
    write("bin/locallm", unixLauncher(product!, platforms[0]!));
    write("lib/node/bin/node", '#!/bin/sh\nprintf "%s\\n" "$NODE_COMPILE_CACHE" "$@"\n');
    symlinkSync("bin/locallm", join(folder, "first"));
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync("../first", join(folder, "elsewhere/second"));
    const main = join(folder, "lib/locallm/dist/cli/locallm.js");
    for (const [command, cwd] of [
      [join(folder, "bin/locallm"), "/"],
      ["./locallm", join(folder, "bin")],
      ["elsewhere/second", folder],
    ] as const)
      for (const [env, cache] of [
        [{ HOME: "/home/某人" }, "/home/某人/.cache/locallm/compiled"],
        [{ HOME: "/h", XDG_CACHE_HOME: "/c d" }, "/c d/locallm/compiled"],
        [{ HOME: "/h", NODE_COMPILE_CACHE: "/own" }, "/own"],
        [{}, ""],
      ] as const) {
        const shown = execFileSync(command, ["run", "a b", "", "$HOME"], { cwd, env, encoding: "utf8" });
        expect(shown.split("\n")).toEqual([cache, ...smallHeap, main, "run", "a b", "", "$HOME", ""]);
      }
  },
);

const shells = ["bash", "zsh", "fish"] as const;
const answerOf: Readonly<Record<(typeof shells)[number], (file: string, words: string) => string[]>> = {
  bash: (file, words) => [
    "-c",
    `source "${file}"; COMP_WORDS=(${words} ""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _dataq; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Zsh completes in its line editor only, so this asks the function for what it would offer.
  zsh: (file, words) => [
    "-c",
    `compdef() {}; _files() {}; _describe() { print -l -- \${(P)2%%:*} }; source "${file}"; words=(${words} ''); CURRENT=$#words; _dataq`,
  ],
  fish: (file, words) => ["-c", `source "${file}"; complete -C '${words} ' | string split -f1 \\t`],
};

it.each(shells)("completions of %s follow the commands that --help describes", async (shell) => {
  if (spawnSync(shell, ["--version"]).error !== undefined) return;
  const program = await wholeProgram();
  const file = join(temporary, `dataq.${shell}`);
  writeFileSync(file, completions(program)[shell]);
  const asked = (words: string) =>
    execFileSync(shell, answerOf[shell](file, words), { cwd: temporary, encoding: "utf8" })
      .trim()
      .split("\n");
  expect(asked("dataq")).toEqual(expect.arrayContaining(["serve", "keys", "ledger"]));
  const keys = asked("dataq keys");
  expect(keys).toEqual(expect.arrayContaining(["create", "revoke"]));
  expect(keys).not.toContain("serve");
  if (shell !== "fish")
    expect(asked("dataq service install")).toEqual(expect.arrayContaining(["--print", "--help"]));
});

it("the manual page has every command and setting, and troff finds no fault in it", async () => {
  const program = await wholeProgram();
  const page = manualPage(
    program,
    [{ variable: "DATAQ_X", value: ".5", meaning: ".fi – it's \\ a 字" }],
    time,
  );
  for (const { name } of program.commands.map((command) => ({ name: command.name() })))
    expect(page).toContain(`.SS \\fBdataq ${name.replaceAll("-", "\\-")}\\fR`);
  expect(page).toContain("\\&.fi \\[u2013] it's \\e a \\[u5B57] (.5)");
  if (spawnSync("groff", ["--version"]).error === undefined)
    expect(
      spawnSync("groff", ["-man", "-ww", "-z", "-Tutf8"], { input: page, encoding: "utf8" }).stderr,
    ).toBe("");
});

it("the scripts of a package are correct shell, and name no other product", () => {
  for (const product of products)
    for (const [name, text] of Object.entries(maintainerScripts(product))) {
      expect(text, name).not.toContain(product.name === "dataq" ? "locallm" : "dataq");
      expect(spawnSync("sh", ["-n"], { input: text, encoding: "utf8" }).stderr, name).toBe("");
    }
});

it("ICU's library keeps the tables that PostgreSQL reads, where they are, and the last one", () => {
  const names = ["coll/root.res", "curr/zh.res", "euc-tw.cnv", "root.res", "zone/zu.res"];
  const library = icuLibrary(names);
  const shorter = withoutUnreadTables(library);
  expect(shorter).toHaveLength(library.length);
  const isThere = (name: string) => shorter.includes(`table ${name}`);
  expect(names.filter(isThere)).toEqual(["coll/root.res", "root.res", "zone/zu.res"]);
  // Names and places stay.
  expect(shorter.includes("icudt60l/euc-tw.cnv\0")).toBe(true);
  expect(shorter.indexOf("table root.res")).toBe(library.indexOf("table root.res"));
  for (const other of [Buffer.from("CmnD and then something else"), Buffer.alloc(0)])
    expect(withoutUnreadTables(other)).toBe(other);
});

/** As ICU's tools write it: a header, a list of names and places, and the tables in order. */
function icuLibrary(names: readonly string[]): Buffer {
  const header = Buffer.alloc(32);
  header.writeUInt16LE(32, 0);
  header.writeUInt16BE(0xda27, 2);
  header.write("CmnD", 12);
  const list = Buffer.alloc(4 + 8 * names.length);
  list.writeUInt32LE(names.length, 0);
  const labels = names.map((name) => `icudt60l/${name}\0`);
  const tables = names.map((name) => `table ${name}\0`);
  let at = list.length;
  for (const [column, texts] of [labels, tables].entries())
    for (const [row, text] of texts.entries()) {
      list.writeUInt32LE(at, 4 + 8 * row + 4 * column);
      at += text.length;
    }
  return Buffer.concat([Buffer.from("before "), header, list, Buffer.from([...labels, ...tables].join(""))]);
}

it("of a program for two processors of macOS, an archive gets the one of its own", () => {
  const [intel, arm] = [Buffer.from("for Intel"), Buffer.from("for Apple Silicon")];
  const head = Buffer.alloc(48);
  head.writeUInt32BE(0xcafebabe, 0);
  head.writeUInt32BE(2, 4);
  for (const [at, [processor, offset, { length }]] of (
    [
      [0x01000007, 48, intel],
      [0x0100000c, 57, arm],
    ] as const
  ).entries())
    for (const [word, value] of [processor, 3, offset, length, 0].entries())
      head.writeUInt32BE(value, 8 + 20 * at + 4 * word);
  const both = Buffer.concat([head, intel, arm]);
  expect([String(sliceFor("x64", both)), String(sliceFor("arm64", both))]).toEqual([
    "for Intel",
    "for Apple Silicon",
  ]);
  // One program, and a class of Java, which begins alike.
  for (const other of [arm, Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 1, 2, 3])])
    expect(sliceFor("x64", other)).toBe(other);
});
