import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ZipFile } from "yazl";
import { fetchOrigin } from "./origin.ts";

let folder = "";
let wheel: Buffer;
const server = createServer((request, response) => {
  if (request.url === "/simple/small-laws/")
    response.end(`<a href="/files/small_laws-1.2-py3-none-any.whl#sha256=${digest}">x</a>`);
  else if (request.url === "/files/small_laws-1.2-py3-none-any.whl") response.end(wheel);
  else response.writeHead(404).end();
});
let digest = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dataq-wheel-"));
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from("{}"), "laws/laws.jsonl");
  zip.addBuffer(
    Buffer.from("Metadata-Version: 2.1\nName: small-laws\nLicense: CC0-1.0\n\nLicense: not this one\n"),
    "small_laws-1.2.dist-info/METADATA",
  );
  zip.end();
  wheel = await buffer(zip.outputStream);
  digest = Buffer.from(await crypto.subtle.digest("SHA-256", new Uint8Array(wheel))).toString("hex");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("PIP_INDEX_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`);
  vi.stubEnv("PATH", join(folder, "no-programs"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  server.close();
  await rm(folder, { recursive: true });
});

test("a package is fetched on a machine without Python, checked, and says its licence", async () => {
  const file = await fetchOrigin("pypi:small-laws", { folder });
  expect(file).toMatchObject({ name: "small-laws 1.2", sha256: digest });
  expect(file.publishers).toMatchObject([{ name: "PyPI small-laws 1.2", licence: "CC0-1.0" }]);
  const right = digest;
  digest = "0".repeat(64);
  await expect(fetchOrigin("pypi:small-laws", { folder })).rejects.toThrow(
    "does not match its published SHA-256",
  );
  digest = right;
  await expect(fetchOrigin("pypi:no-laws", { folder })).rejects.toThrow(
    /^The Python index lists no wheel of no-laws: 127\.0\.0\.1:\d+: it answered 404\. Check the network/,
  );
});
