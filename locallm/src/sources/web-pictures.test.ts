import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseNamedHosts } from "../wire/remote-address.ts";
import { Network } from "./network.ts";
import { WebPictures } from "./web-pictures.ts";

let host: Server;
let other: Server;
const asked: string[] = [];
const at = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeAll(async () => {
  const serve = async () => {
    const server = createServer((request, response) => {
      asked.push(`${request.headers.host}${request.url}`);
      const to = new URL(request.url ?? "", "http://x").searchParams.get("to");
      if (request.url === "/loop") response.writeHead(302, { location: "/loop" }).end();
      else if (to !== null) response.writeHead(302, { location: to }).end();
      else if (request.url === "/gone") response.writeHead(404).end();
      else response.end("picture");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return server;
  };
  host = await serve();
  other = await serve();
});
afterAll(() => {
  host.close();
  other.close();
});

const fetch = async (hosts: string, url: string, limitBytes = 100) => {
  const network = new Network();
  try {
    const pictures = new WebPictures(network, parseNamedHosts(hosts)!);
    return (await pictures.fetch(url, { limitBytes, signal: new AbortController().signal })).toString();
  } finally {
    network.close();
  }
};

it("fetches from a named host, also by a redirect", async () => {
  expect(await fetch(at(host), `http://${at(host)}/a.png`)).toBe("picture");
  expect(await fetch(`${at(host)},${at(other)}`, `http://${at(host)}/?to=http://${at(other)}/b`)).toBe(
    "picture",
  );
});

it.each([
  ["without hosts", "", "/a.png", "picture_host_not_allowed"],
  ["from this machine if all public hosts are allowed", "*", "/a.png", "connection_refused"],
  ["by a redirect to another host", "HOST", "/?to=http://OTHER/b", "picture_host_not_allowed"],
  ["by a redirect to a file", "HOST", "/?to=file:///etc/passwd", "invalid_field"],
  ["by redirects without end", "HOST", "/loop", "source_failed"],
  ["what is not there", "HOST", "/gone", "source_failed"],
])("fetches nothing %s", async (_, hosts, path, code) => {
  const real = (text: string) => text.replaceAll("HOST", at(host)).replaceAll("OTHER", at(other));
  asked.length = 0;
  const url = `http://${at(host)}${real(path)}`;
  await expect(fetch(real(hosts), url)).rejects.toMatchObject({ code });
  expect(asked.some((each) => each.startsWith(at(other)))).toBe(false);
});

it("ends an answer that is too large", async () => {
  await expect(fetch(at(host), `http://${at(host)}/a`, 6)).rejects.toMatchObject({ code: "source_failed" });
});
