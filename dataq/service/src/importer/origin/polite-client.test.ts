import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { inEnglish } from "../message.ts";
import { NotThere, PoliteClient } from "./polite-client.ts";

const what = { en: "the list", zh: "目录" };
const servers: Server[] = [];
const said: string[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  said.length = 0;
});

async function serve(listener: RequestListener, server: Server = createServer(listener)): Promise<string> {
  server.listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function clientOf(address: string, paceMs = 1): PoliteClient {
  return new PoliteClient({
    publisher: { en: "The publisher", zh: "发布机构" },
    address,
    referer: "https://publisher.example/",
    paceMs,
    progress: (message) => void said.push(inEnglish(message)),
  });
}

test("it says who it is, and the page that it would ask from, to the publisher alone", async () => {
  const seen: (string | undefined)[] = [];
  const other = await serve((request, response) => {
    seen.push(request.headers.referer);
    response.end("a file");
  });
  const home = await serve((request, response) => {
    seen.push(request.headers.referer, request.headers["user-agent"]);
    response.end(JSON.stringify({ asked: request.method }));
  });
  const client = clientOf(`http://${home}`);
  expect(await client.json(what, "/list", { page: 1 })).toEqual({ asked: "POST" });
  expect((await client.file(what, `http://${other}/x.docx`, 100)).toString()).toBe("a file");
  expect(seen).toEqual(["https://publisher.example/", "dataq", undefined]);
  client.close();
});

test.each([
  [403, /^The publisher refused the list with 403\. See its page/],
  [302, /^The publisher refused the list with 302\./],
])("an answer of %i is told at once", async (status, expected) => {
  let asked = 0;
  const home = await serve((_, response) => {
    asked++;
    response.writeHead(status, status === 302 ? { location: "/login" } : {}).end();
  });
  const client = clientOf(`http://${home}`);
  await expect(client.json(what, "/list")).rejects.toThrow(expected);
  expect(asked).toBe(1);
  client.close();
});

test("what is not there is told as such", async () => {
  const home = await serve((_, response) => void response.writeHead(404).end());
  const client = clientOf(`http://${home}`);
  await expect(client.json(what, "/list")).rejects.toThrow(NotThere);
  client.close();
});

test("a publisher that never answers is given up after five times, with the reason", async () => {
  const home = await serve((request) => void request.socket.destroy());
  const client = clientOf(`http://${home}`);
  await expect(client.json(what, "/list")).rejects.toThrow(
    /^The publisher did not answer the list in 5 attempts: it was not reached \(socket hang up\)\. What was read is kept/,
  );
  expect(said).toHaveLength(4);
  client.close();
});

test("Retry-After may be a day and time, and a wait of more than ten minutes is left to the operator", async () => {
  const later = new Date(Date.now() + 45 * 60_000).toUTCString();
  const home = await serve((_, response) => void response.writeHead(503, { "retry-after": later }).end());
  const client = clientOf(`http://${home}`);
  await expect(client.json(what, "/list")).rejects.toThrow(/^The publisher asks to wait 4[45] minutes\./);
  client.close();
});

test("after each limit it asks at half the speed, and no slower than every 30 seconds", async () => {
  const home = await serve((_, response) => void response.writeHead(429, { "retry-after": "0" }).end());
  const client = clientOf(`http://${home}`, 1);
  await expect(client.json(what, "/list")).rejects.toThrow(/asked too often/);
  expect(client.paceMs).toBe(32);
  client.close();
});

test("an answer of more bytes than expected is cut off", async () => {
  const home = await serve((_, response) => {
    response.end(Buffer.alloc(1_000));
  });
  const client = clientOf(`http://${home}`);
  await expect(client.file(what, `http://${home}/x`, 999)).rejects.toThrow(
    /the list is larger than 999 bytes/,
  );
  client.close();
});

describe("addresses that a publisher names", () => {
  // Nothing answers there, and nothing is asked: the address alone is refused.
  const publisher = () => clientOf("https://publisher.example");

  test.each([
    "http://files.example/x",
    "https://10.1.2.3/x",
    "https://[::1]/x",
    "https://169.254.169.254/latest/meta-data",
    "https://localhost/x",
    "file:///etc/passwd",
  ])("%s is not asked", async (address) => {
    await expect(publisher().file(what, address, 100)).rejects.toThrow("not a public https address");
  });
});

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasOpenssl)(
  "a certificate that nobody vouches for is told and never ignored (needs openssl)",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "polite-"));
    try {
      const [key, certificate] = [join(folder, "key"), join(folder, "certificate")];
      execFileSync(
        "openssl",
        // biome-ignore format: one option a line says less
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=publisher",
          "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        { stdio: "ignore" },
      );
      let asked = 0;
      const listener: RequestListener = (_, response) => {
        asked++;
        response.end("{}");
      };
      const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, listener);
      const client = clientOf(`https://${await serve(listener, tls)}`);
      await expect(client.json(what, "/list")).rejects.toThrow(
        /^The certificate of 127\.0\.0\.1:\d+ is not valid: self-signed certificate.*\. The publisher was not asked/,
      );
      expect([asked, said]).toEqual([0, []]);
      client.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
