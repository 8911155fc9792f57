import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { tarGz, tarXz } from "./archive.ts";
import { unixLauncher } from "./launchers.ts";
import { platforms } from "./platforms.ts";
import { products } from "./products.ts";
import { type Tree, text } from "./tree.ts";

const script = fileURLToPath(new URL("install.sh", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "install sh 安装 "));
afterAll(() => rmSync(temporary, { recursive: true }));

const release = join(temporary, "release");
const dataq = products.find(({ name }) => name === "dataq")!;
const here = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch)!;
const platform = `${process.platform}-${process.arch}`;
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(temporary, "home "));
  rmSync(release, { recursive: true, force: true });
  mkdirSync(release);
});

/** Puts a release of a small program into the folder. `say` is what its `--version` prints. */
async function publish(version: string, say = `echo ${version}`): Promise<string> {
  const name = `dataq-${version}-${platform}`;
  const tree: Tree = new Map([
    [`${name}/bin/dataq`, text(unixLauncher(dataq, here), true)],
    [`${name}/lib/node/bin/node`, text(`#!/bin/sh\n${say}\n`, true)],
    [`${name}/release.json`, text("{}")],
    [`${name}/lib/part.js`, text("x".repeat(3000))],
  ]);
  const packed = await tarGz(tree, new Date(0));
  writeFileSync(join(release, `${name}.tar.gz`), packed);
  const digest = createHash("sha256").update(packed).digest("hex");
  const other = `${"0".repeat(64)}  locallm-${version}-${platform}.tar.gz\n`;
  writeFileSync(join(release, "SHA256SUMS"), `${other}${digest}  ${name}.tar.gz\n`);
  return `${name}.tar.gz`;
}

/** Adds the smaller archive, whose program says that it is from there. */
async function publishSmaller(version: string): Promise<void> {
  const name = `dataq-${version}-${platform}`;
  const tree: Tree = new Map([
    [`${name}/bin/dataq`, text(unixLauncher(dataq, here), true)],
    [`${name}/lib/node/bin/node`, text(`#!/bin/sh\necho ${version} from xz\n`, true)],
    [`${name}/release.json`, text("{}")],
  ]);
  const packed = await (await tarXz(tree, new Date(0))).packed;
  writeFileSync(join(release, `${name}.tar.xz`), packed);
  const digest = createHash("sha256").update(packed).digest("hex");
  appendFileSync(join(release, "SHA256SUMS"), `${digest}  ${name}.tar.xz\n`);
}

/** A folder with the programs that install.sh needs, and nothing else. */
function fewPrograms(): string {
  const folder = mkdtempSync(join(temporary, "bin "));
  const names =
    "sh id rm mkdir mktemp uname getconf ldd grep sed cut cp cat mv ln tar gzip sha256sum dirname readlink ls".split(
      " ",
    );
  for (const name of names) {
    const { stdout } = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
    if (stdout.trim() !== "") symlinkSync(stdout.trim(), join(folder, name));
  }
  return folder;
}

function run(...words: string[]): SpawnSyncReturns<string> {
  return runWith(process.env["PATH"]!, ...words);
}

function runWith(path: string, ...words: string[]): SpawnSyncReturns<string> {
  return spawnSync("/bin/sh", [script, "dataq", ...words], {
    encoding: "utf8",
    env: { HOME: home, PATH: path, TMPDIR: temporary },
  });
}

const installed = () =>
  spawnSync(join(home, ".local/bin/dataq"), ["--version"], { encoding: "utf8" }).stdout?.trim();
const inHome = () =>
  existsSync(home)
    ? readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => /\.(?:new|js)$/.test(name))
    : [];

describe.skipIf(process.platform === "win32")("install.sh", () => {
  it("installs, updates and removes, and leaves what it did not make", async () => {
    await publish("1.0.0");
    mkdirSync(join(home, ".local/share/dataq"), { recursive: true });
    writeFileSync(join(home, ".local/share/dataq/local-key"), "kept");
    expect(run("--from", release)).toMatchObject({
      status: 0,
      stderr: "",
      stdout: expect.stringContaining("Installed dataq 1.0.0 in "),
    });
    expect(installed()).toBe("1.0.0");
    rmSync(release, { recursive: true });
    mkdirSync(release);
    await publish("1.1.0");
    expect(run("--from", release)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("version before is there"),
    });
    expect(installed()).toBe("1.1.0");
    expect(run("--previous")).toMatchObject({ status: 0, stdout: expect.stringContaining("1.0.0") });
    expect(installed()).toBe("1.0.0");
    expect(run("--previous").stdout).toContain("1.1.0");
    expect(run("--uninstall").status).toBe(0);
    expect(readdirSync(join(home, ".local/share"))).toEqual(["dataq"]);
    expect(existsSync(join(home, ".local/bin/dataq"))).toBe(false);
    expect(readFileSync(join(home, ".local/share/dataq/local-key"), "utf8")).toBe("kept");
    expect(run("--uninstall")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("is not installed"),
    });
  });

  it.each([
    ["cut", (bytes: Buffer) => bytes.subarray(0, -100), "another digest"],
    [
      "changed",
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]),
      "another digest",
    ],
  ] as const)("an archive that is %s changes nothing", async (_name, change, message) => {
    await publish("1.0.0");
    run("--from", release);
    const archive = await publish("2.0.0");
    rmSync(join(release, `dataq-1.0.0-${platform}.tar.gz`), { force: true });
    writeFileSync(join(release, archive), change(readFileSync(join(release, archive))));
    expect(run("--from", release)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    expect(installed()).toBe("1.0.0");
    expect(inHome().filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it.skipIf(spawnSync("xz", ["--version"]).status !== 0)(
    "takes the smaller archive only where xz can unpack it (needs xz)",
    async () => {
      await publish("1.0.0");
      await publishSmaller("1.0.0");
      expect(runWith(fewPrograms(), "--from", release)).toMatchObject({ status: 0, stderr: "" });
      expect(installed()).toBe("1.0.0");
      expect(run("--from", release)).toMatchObject({ status: 0, stderr: "" });
      expect(installed()).toBe("1.0.0 from xz");
      expect(run("--uninstall").status).toBe(0);
    },
  );

  it("a version that does not run here is not installed", async () => {
    await publish("1.0.0");
    run("--from", release);
    await publish("2.0.0", "exit 1");
    expect(run("--from", release)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("does not run on this machine"),
    });
    expect(installed()).toBe("1.0.0");
  });

  it("a download over HTTP that ends early, and an address without a release, change nothing", async () => {
    const archive = await publish("1.0.0");
    const server = createServer((request, response) => {
      const path = join(release, decodeURIComponent(request.url!));
      if (!existsSync(path)) return response.writeHead(404).end();
      const bytes = readFileSync(path);
      if (!path.endsWith(archive)) return response.end(bytes);
      response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, 50));
      return setTimeout(() => response.destroy(), 50);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      expect(await runBeside("--from", `http://127.0.0.1:${port}`)).toMatch(/cannot get .*tar\.gz/);
      expect(await runBeside("--from", `http://127.0.0.1:${port}/none`)).toMatch(/cannot get .*SHA256SUMS/);
      expect(inHome()).toEqual([]);
    } finally {
      server.close();
    }
  });

  it("says which rights, words or archives are missing", async () => {
    await publish("1.0.0");
    expect(run().stderr).toContain("--from");
    expect(run("--from", release, "--sytem").stderr).toContain("unknown: --sytem");
    mkdirSync(join(home, ".local/bin"), { recursive: true });
    writeFileSync(join(home, ".local/bin/dataq"), "someone's own");
    expect(run("--from", release).stderr).toContain("was not made by install.sh");
    expect(readFileSync(join(home, ".local/bin/dataq"), "utf8")).toBe("someone's own");
    writeFileSync(join(release, "SHA256SUMS"), `${"0".repeat(64)}  dataq-1.0.0-plan9-mips.tar.gz\n`);
    expect(run("--from", release).stderr).toContain("no dataq for");
    chmodSync(release, 0o700);
  });

  it.skipIf(spawnSync("minisign", ["-v"]).error !== undefined)(
    "with a key, only that key's signature is good (needs minisign)",
    async () => {
      await publish("1.0.0");
      for (const name of ["right", "wrong"])
        spawnSync("minisign", [
          "-G",
          "-W",
          "-f",
          "-p",
          join(temporary, `${name}.pub`),
          "-s",
          join(temporary, `${name}.key`),
        ]);
      const keyOf = (name: string) => readFileSync(join(temporary, `${name}.pub`), "utf8").split("\n")[1]!;
      const sums = join(release, "SHA256SUMS");
      expect(run("--from", release, "--key", keyOf("right")).status).toBe(1);
      spawnSync("minisign", ["-S", "-s", join(temporary, "right.key"), "-m", sums]);
      expect(run("--from", release, "--key", keyOf("wrong"))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("not signed by this key"),
      });
      expect(run("--from", release, "--key", keyOf("right"))).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("signature of SHA256SUMS is right"),
      });
      writeFileSync(sums, readFileSync(sums, "utf8").replace("0", "1"));
      expect(run("--from", release, "--key", keyOf("right")).status).toBe(1);
    },
  );
});

/** Like `run`, while this process answers. */
async function runBeside(...words: string[]): Promise<string> {
  const child = spawn("sh", [script, "dataq", ...words], {
    env: { HOME: home, PATH: process.env["PATH"], TMPDIR: temporary },
  });
  let errors = "";
  child.stderr.on("data", (bytes) => {
    errors += String(bytes);
  });
  await new Promise((resolve) => child.on("close", resolve));
  return errors;
}
