import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Updatable, update } from "@locallm/updates";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { updatable } from "../../dataq/service/src/cli/update.ts";
import { tarGz } from "./archive.ts";
import { unixLauncher } from "./launchers.ts";
import { platforms } from "./platforms.ts";
import { products } from "./products.ts";
import { newSecretKey, publicKeyOf, readSecretKey, type SecretKey, signatureOf } from "./signature.ts";
import { type Tree, text } from "./tree.ts";

const dataq = products.find(({ name }) => name === "dataq")!;
const platform = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch)!;
/** Folders have a space and Chinese characters. */
const temporary = mkdtempSync(join(tmpdir(), "update 更新 "));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const ours = newSecretKey();
const key = publicKeyOf(ours);

let release = "";
let folder = "";
let server: Server;
let address = "";
/** How the server answers a file: all of it by default. */
let answer: (name: string, bytes: Buffer) => Buffer | "cut" | "stall" = (_name, bytes) => bytes;
beforeEach(async () => {
  release = mkdtempSync(join(temporary, "release "));
  folder = join(mkdtempSync(join(temporary, "home ")), "数据 program");
  answer = (_name, bytes) => bytes;
  server = createServer((request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    const path = join(release, name);
    if (!existsSync(path)) return response.writeHead(404).end();
    const bytes = readFileSync(path);
    const sent = answer(name, bytes);
    if (sent instanceof Buffer) return response.end(sent);
    response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, 60), () => {
      if (sent === "cut") response.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A small program with the launcher and the Node of a real archive: it says its version, and serves in two steps. */
function treeOf(version: string, main?: string): Tree {
  const node = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`;
  const program =
    main ??
    `if (process.argv[2] === "serve") { console.log("up"); process.stdin.once("data", async () => { console.log((await import("./part.js")).version); process.exit(); }); } else console.log("${version}");`;
  return new Map([
    ["bin/dataq", text(unixLauncher(dataq, platform), true)],
    ["lib/node/bin/node", text(node, true)],
    ["lib/dataq/package.json", text('{"type":"module"}')],
    ["lib/dataq/dist/cli/dataq.js", text(program)],
    ["lib/dataq/dist/cli/part.js", text(`export const version = "${version}";`)],
    [
      "release.json",
      text(
        JSON.stringify({ product: "dataq", version, platform: platform.name, time: "2026-11-20T00:00:00Z" }),
      ),
    ],
  ]);
}

async function publish(
  version: string,
  options: { main?: string; secret?: SecretKey } = {},
): Promise<string> {
  const name = `dataq-${version}-${platform.name}`;
  const packed = await tarGz(
    new Map([...treeOf(version, options.main)].map(([path, entry]) => [`${name}/${path}`, entry])),
    new Date(0),
  );
  writeFileSync(join(release, `${name}.tar.gz`), packed);
  const line = `${createHash("sha256").update(packed).digest("hex")}  ${name}.tar.gz\n`;
  const sums = Buffer.from(line + line.replace(/-\d+\.\d+\.\d+-/, "-0.0.1-"));
  writeFileSync(join(release, "SHA256SUMS"), sums);
  const signature = signatureOf(sums, options.secret ?? ours, `release ${version}`);
  writeFileSync(join(release, "SHA256SUMS.minisig"), signature);
  writeFileSync(
    join(release, "CHANGELOG.md"),
    `# Changes\n\n## ${version}\n\n- news of ${version}\n\n## 1.0.0\n\n- old\n`,
  );
  return `${name}.tar.gz`;
}

/** Unpacks a version, as a user does. */
function unpack(version: string): void {
  for (const [path, entry] of treeOf(version)) {
    const file = join(folder, path);
    mkdirSync(join(file, ".."), { recursive: true });
    if ("bytes" in entry) writeFileSync(file, entry.bytes, { mode: entry.isProgram ? 0o755 : 0o644 });
  }
}

function program(version: string, from: string | null = address): Updatable {
  const start = join(folder, "current");
  const name = existsSync(start) ? readFileSync(start, "utf8").trim() : ".";
  const candidate = join(folder, "versions", name);
  const running = existsSync(join(candidate, "release.json")) ? candidate : folder;
  return { ...updatable(), version, modules: pathToFileURL(`${running}/lib/dataq/`), from, key };
}

async function run(
  options: { check?: boolean; previous?: boolean; unsigned?: boolean } = {},
  changed: Partial<Updatable> = {},
): Promise<string> {
  const lines: string[] = [];
  await update({ ...program(started()), ...changed }, options, (line) => lines.push(line));
  return lines.join("\n");
}

const started = () =>
  spawnSync(join(folder, "bin/dataq"), ["--version"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  }).stdout.trim();

describe.skipIf(process.platform === "win32")("dataq update", () => {
  it("shows what is new, installs it, goes back and forth, and removes what nobody needs", async () => {
    unpack("1.0.0");
    await publish("1.1.0");
    const checked = await run({ check: true });
    expect(checked).toContain("dataq 1.1.0 is there; this is 1.0.0.");
    expect(checked).toContain("Its signature is right: release 1.1.0");
    expect(checked).toContain("- news of 1.1.0");
    expect(checked).not.toContain("- old");
    expect(existsSync(join(folder, "versions"))).toBe(false);
    expect(await run()).toContain("Its digest is right.");
    expect(started()).toBe("1.1.0");
    expect(await run()).toBe("dataq 1.1.0 is the newest: the release offers 1.1.0.");
    expect(await run({ previous: true })).toContain("dataq is now 1.0.0");
    expect(started()).toBe("1.0.0");
    await run({ previous: true });
    expect(started()).toBe("1.1.0");
    // From a folder, as on a machine without a network.
    await publish("1.2.0");
    await run({}, { from: release });
    await publish("1.10.0-rc.1");
    await run({}, { from: release });
    expect(started()).toBe("1.10.0-rc.1");
    const kept = readdirSync(join(folder, "versions")).map((name) => name.replace(/-[0-9a-f]{8}$/, ""));
    if (process.platform === "linux") expect(kept.sort()).toEqual(["1.10.0-rc.1", "1.2.0"]);
    // An older release than this one is never installed: somebody may offer a version with known holes.
    rmSync(join(release, "SHA256SUMS"));
    await publish("1.9.0");
    expect(await run()).toContain("is the newest: the release offers 1.9.0");
  });

  it("a server that runs keeps its own version until it is started again", async () => {
    unpack("1.0.0");
    const server = spawn(join(folder, "bin/dataq"), ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
    await once(server.stdout!, "data");
    await publish("1.1.0");
    await run();
    expect(started()).toBe("1.1.0");
    server.stdin!.write("load the rest\n");
    expect(String((await once(server.stdout!, "data"))[0])).toBe("1.0.0\n");
  });

  it.each([
    [
      "an archive that is cut",
      (name: string, bytes: Buffer) => (name.endsWith("gz") ? ("cut" as const) : bytes),
      /broke off/,
    ],
    [
      "an archive that ends early without a sign",
      (name: string, bytes: Buffer) => (name.endsWith("gz") ? bytes.subarray(0, -9) : bytes),
      /another digest than SHA256SUMS says/,
    ],
    [
      "digests that somebody changed",
      (name: string, bytes: Buffer) =>
        name === "SHA256SUMS"
          ? Buffer.from(String(bytes).replace(/^./, (first) => (first === "0" ? "1" : "0")))
          : bytes,
      /signature of the release is wrong/,
    ],
    [
      "a comment that somebody changed",
      (name: string, bytes: Buffer) =>
        name.endsWith("minisig")
          ? Buffer.from(String(bytes).replace("release 1.1.0", "release 9.9.9"))
          : bytes,
      /signature of the release is wrong/,
    ],
    [
      "a signature that is a page",
      (name: string, bytes: Buffer) => (name.endsWith("minisig") ? Buffer.from("<html>") : bytes),
      /not one of minisign/,
    ],
  ])("%s changes nothing", async (_name, changed, message) => {
    unpack("1.0.0");
    await publish("1.1.0");
    answer = changed;
    await expect(run()).rejects.toThrow(message);
    expect(started()).toBe("1.0.0");
    expect(leftovers()).toEqual([]);
    answer = (_name, bytes) => bytes;
    await run();
    expect(started()).toBe("1.1.0");
  });

  it("another key, a missing signature, no address and no key are named", async () => {
    unpack("1.0.0");
    await publish("1.1.0", { secret: newSecretKey() });
    await expect(run()).rejects.toThrow("signed by another key");
    rmSync(join(release, "SHA256SUMS.minisig"));
    await expect(run()).rejects.toThrow("cannot get SHA256SUMS.minisig");
    await expect(run({}, { from: null })).rejects.toThrow(
      "no release is published yet, so no address is built in. Set DATAQ_RELEASES",
    );
    await expect(run({}, { key: null })).rejects.toThrow("set DATAQ_RELEASE_KEY");
    await expect(run({}, { key: "RWwrong" })).rejects.toThrow("not a public key of minisign");
    await expect(run({ previous: true })).rejects.toThrow("no version before");
    expect(started()).toBe("1.0.0");
    await run({ unsigned: true }, { key: null });
    expect(started()).toBe("1.1.0");
  });

  it("a version that does not start here is not installed", async () => {
    unpack("1.0.0");
    await publish("1.1.0", { main: "process.exit(1)" });
    await expect(run()).rejects.toThrow("1.1.0 does not run on this machine");
    await publish("1.2.0", { main: 'console.log("6.6.6")' });
    await expect(run()).rejects.toThrow("1.2.0 does not run on this machine: it says that it is 6.6.6");
    expect([started(), ...leftovers()]).toEqual(["1.0.0"]);
  });

  it("killed in the middle of a download, it leaves the version that was there, and works when it runs again", async () => {
    unpack("1.0.0");
    await publish("1.1.0");
    const stalled = new Promise<void>((resolve) => {
      answer = (name, bytes) => {
        if (!name.endsWith("gz")) return bytes;
        resolve();
        return "stall";
      };
    });
    const child = updateProcess();
    await stalled;
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(started()).toBe("1.0.0");
    answer = (_name, bytes) => bytes;
    await run();
    expect(started()).toBe("1.1.0");
  });

  it("killed between its two small files, it still starts a version and can go on", async () => {
    unpack("1.0.0");
    await publish("1.1.0");
    await run();
    // As after the first of both, and as after a file system that lost the second.
    for (const current of [".", "", "1.7.0-00000000", "../../../bin"]) {
      writeFileSync(join(folder, "current"), current);
      expect(started()).toBe("1.0.0");
    }
    await run();
    expect(started()).toBe("1.1.0");
  });

  it.skipIf(process.getuid?.() !== 0)("without rights or without space it says so (needs root)", async () => {
    unpack("1.0.0");
    await publish("1.1.0");
    for (const path of [temporary, join(folder, "..")]) chmodSync(path, 0o755);
    const asNobody = updateProcess({ uid: 65_534, gid: 65_534 });
    let said = "";
    asNobody.stderr!.on("data", (bytes) => {
      said += String(bytes);
    });
    await once(asNobody, "close");
    expect(said).toMatch(/cannot be written \(EACCES\)\. Run the update as its owner/);
    const small = join(folder, "versions");
    mkdirSync(small);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=20k", "tmpfs", small]).status !== 0) return;
    try {
      await expect(run()).rejects.toThrow(/free, and the update needs|no space left/i);
    } finally {
      spawnSync("umount", [small]);
    }
    expect(started()).toBe("1.0.0");
  });

  it.skipIf(spawnSync("minisign", ["-v"]).error !== undefined)(
    "minisign accepts our signatures, and we accept minisign's (needs minisign)",
    async () => {
      unpack("1.0.0");
      await publish("1.1.0");
      const sums = join(release, "SHA256SUMS");
      expect(spawnSync("minisign", ["-Vm", sums, "-P", key]).status).toBe(0);
      const [secret, published] = [join(temporary, "m.key"), join(temporary, "m.pub")];
      execFileSync("minisign", ["-G", "-W", "-f", "-p", published, "-s", secret], { stdio: "ignore" });
      expect(publicKeyOf(readSecretKey(readFileSync(secret, "utf8")))).toBe(
        readFileSync(published, "utf8").trim().split("\n")[1],
      );
      for (const old of [[], ["-l"]]) {
        execFileSync("minisign", ["-S", ...old, "-s", secret, "-m", sums, "-t", "by minisign"], {
          stdio: "ignore",
        });
        expect(await run({ check: true }, { key: readFileSync(published, "utf8") })).toContain(
          "Its signature is right: by minisign",
        );
      }
    },
  );
});

/** What an update that failed left. */
function leftovers(): string[] {
  const versions = join(folder, "versions");
  return existsSync(versions) ? readdirSync(versions) : [];
}

/** The same update in a process of its own, which can be killed. */
function updateProcess(user: { uid?: number; gid?: number } = {}): ChildProcess {
  const script = `import { update } from "@locallm/updates"; import { get } from "node:http";
const open = (address) => new Promise((resolve, reject) => get(address, (r) => resolve({ status: r.statusCode, bytes: Number(r.headers["content-length"]) || null, body: r })).on("error", reject));
await update({ product: "dataq", version: "1.0.0", modules: new URL(${JSON.stringify(pathToFileURL(`${folder}/lib/dataq/`).href)}), from: ${JSON.stringify(address)}, key: ${JSON.stringify(key)}, variables: {}, get: open }, {}, () => {});`;
  return spawn(process.execPath, ["-C", "source", "--input-type=module", "-e", script], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    stdio: ["ignore", "ignore", "pipe"],
    ...user,
  });
}
