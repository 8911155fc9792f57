import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { download } from "./download.ts";
import { certificatesIn, settingsOfPip } from "./pip.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dataq-download-"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

// "localhost" has two addresses, and Node's error about both has no text.
test.each(["127.0.0.1", "localhost"])("a download that finds no server at %s says why", async (host) => {
  await expect(download(`http://${host}:1/laws.whl`, join(folder, "laws.whl"), {})).rejects.toThrow(
    /^laws\.whl cannot be downloaded: .*ECONNREFUSED.*\. Check the network/,
  );
});

const hasPip = spawnSync("python3", ["-c", "import pip"]).status === 0;
test.skipIf(!hasPip)(
  "trusts the certificates of pip's settings, whichever of its files has them (needs pip)",
  async () => {
    const cert = join(folder, "company's root.pem");
    await writeFile(cert, "PEM");
    // For PIP_CONFIG_FILE as for /etc/pip.conf, `pip config get` reports no such key.
    const settings = join(folder, "pip.conf");
    await writeFile(settings, `[global]\ncert = ${cert}\n`);
    vi.stubEnv("PIP_CERT", undefined);
    vi.stubEnv("PIP_CONFIG_FILE", settings);
    expect(await certificatesIn((await settingsOfPip()) as string)).toBe("PEM");
  },
);
