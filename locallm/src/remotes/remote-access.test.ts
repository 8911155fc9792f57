import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CredentialsFile } from "../sources/credentials.ts";
import { RemoteHosts } from "../sources/remote-hosts.ts";
import { parseNamedHosts } from "../wire/remote-address.ts";
import { RemoteConnections } from "./connection.ts";
import { RemoteAccess } from "./remote-access.ts";

let folder: string;
let server: Server;
let port: number;
let received = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-connection-"));
  server = createServer((_, response) => {
    received += 1;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  received = 0;
});

const hostsOf = (text: string) =>
  new RemoteHosts({ file: join(folder, "remotes.json"), named: parseNamedHosts(text) ?? [] });

/** Every name has these addresses. */
const resolvesTo =
  (...addresses: string[]): LookupFunction =>
  (_name, options, callback) => {
    const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };

async function get(url: string, hosts: RemoteHosts, lookup?: LookupFunction): Promise<number> {
  const connections = new RemoteConnections({
    addressCheck: (checked) => hosts.addressCheck(checked),
    ...(lookup === undefined ? {} : { lookup }),
  });
  try {
    const request = { method: "GET", headers: {}, signal: new AbortController().signal } as const;
    const response = await connections.fetch(new URL(url), request);
    response.close();
    return response.status;
  } finally {
    connections.close();
  }
}

describe("a connection to an engine", () => {
  test("reaches an address that is named", async () => {
    expect(await get(`http://127.0.0.1:${port}/v1`, hostsOf("127.0.0.1"))).toBe(200);
    expect(await get(`http://localhost:${port}/v1`, hostsOf("localhost"), resolvesTo("127.0.0.1"))).toBe(200);
    expect(await get(`http://[::ffff:127.0.0.1]:${port}/`, hostsOf("[::ffff:7f00:1]"))).toBe(200);
    expect(received).toBe(3);
  });

  test.each([
    ["a host that is not named", "", "http://127.0.0.1/v1", []],
    ["another spelling of the address", "localhost", "http://127.1/v1", []],
    ["a number as address", "10.0.0.7", "http://2130706433/v1", []],
    ["an IPv4-mapped address", "127.0.0.2", "http://[::ffff:7f00:1]/v1", []],
    [
      "another host with the named one in its name",
      "gpu1.example",
      "http://gpu1.example.evil.example/",
      ["127.0.0.1"],
    ],
    ["a name that leads to this machine", "gpu1.example", "http://gpu1.example/v1", ["127.0.0.1"]],
    ["a name that leads to this machine by IPv6", "gpu1.example", "http://gpu1.example/", ["::1"]],
    ["a name with a dot at its end", "gpu1.example", "http://GPU1.example./v1", ["127.0.0.1"]],
    [
      "a name with a public address and this machine",
      "gpu1.example",
      "http://gpu1.example/",
      ["203.0.113.7", "127.0.0.1"],
    ],
    ["a name that leads to a metadata service", "gpu1.example", "http://gpu1.example/", ["169.254.169.254"]],
    ["a name with a mapped link-local address", "gpu1.example", "http://gpu1.example/", ["::ffff:a9fe:a9fe"]],
    ["any public name that leads into a network", "*", "http://gpu1.example/v1", ["10.1.2.3"]],
    ["an address if all public hosts are named", "*", "http://127.0.0.1/v1", []],
  ])("does not reach %s", async (_, named, url, addresses) => {
    const target = new URL(url);
    target.port = String(port);
    const getting = get(
      target.href,
      hostsOf(named),
      addresses.length === 0 ? undefined : resolvesTo(...addresses),
    );
    await expect(getting).rejects.toThrow(/remote models may not use|locallm refuses to connect to/);
    expect(received).toBe(0);
  });

  test("is not reused once its name resolves elsewhere or its host is forbidden", async () => {
    const hosts = hostsOf("");
    const url = `http://localhost:${port}/v1`;
    await hosts.allow([url]);
    let address = "127.0.0.1";
    const connections = new RemoteConnections({
      addressCheck: (checked) => hosts.addressCheck(checked),
      lookup: (name, options, callback) => resolvesTo(address)(name, options, callback),
    });
    const request = { method: "GET", headers: {}, signal: new AbortController().signal } as const;
    const first = await connections.fetch(new URL(url), request);
    for await (const _ of first.body);
    first.close();
    await hosts.forbid(`localhost:${port}`);
    address = "169.254.169.254";
    await expect(connections.fetch(new URL(url), request)).rejects.toThrow("remote models may not use");
    connections.close();
    expect(received).toBe(1);
  });
});

describe("access to a remote model", () => {
  test("reads each file once for all replicas", async () => {
    let reads = 0;
    const counted = async () => {
      reads++;
    };
    const access = new RemoteAccess(
      { require: counted },
      { remoteKeys: (engines) => counted().then(() => engines.map(() => null)) },
    );
    const remotes = Array.from({ length: 64 }, (_, index) => ({ url: `https://gpu${index}.example/v1` }));
    const name = { host: "registry.ollama.ai", namespace: "library", model: "big", tag: "latest" };
    const model = { name, digest: "d", remotes } as unknown as Parameters<typeof access.modelOf>[0];
    expect((await access.modelOf(model)).upstreams).toHaveLength(64);
    expect(reads).toBe(2);
  });

  test("needs all hosts and keys, and follows changes of a key", async () => {
    const hosts = hostsOf("gpu1.example");
    const credentials = new CredentialsFile(join(folder, "credentials.json"));
    const access = new RemoteAccess(hosts, credentials);
    const address = { model: "m", protocol: "openai", weight: 1, requests: 4, key: "gpu" } as const;
    const model = (...urls: string[]) =>
      ({
        name: { host: "registry.ollama.ai", namespace: "library", model: "big", tag: "latest" },
        digest: "d",
        remotes: urls.map((url) => ({ ...address, url })),
      }) as unknown as Parameters<typeof access.modelOf>[0];
    const one = model("https://gpu1.example/v1");
    await expect(access.modelOf(one)).rejects.toThrow("has no key gpu for gpu1.example:443");
    await credentials.setRemoteKey("gpu", {
      token: "first",
      hosts: ["gpu1.example:443", "gpu2.example:443"],
    });
    const first = await access.modelOf(one);
    expect(first).toEqual({
      name: "big:latest",
      digest: "d",
      upstreams: [
        {
          ...{ url: "https://gpu1.example/v1", model: "m", protocol: "openai" },
          ...{ key: "first", weight: 1, maxRequests: 4 },
        },
      ],
    });
    expect(await access.modelOf(one)).toBe(first);
    await credentials.setRemoteKey("gpu", { token: "second", hosts: ["gpu1.example:443"] });
    expect((await access.modelOf(one)).upstreams[0]?.key).toBe("second");
    const two = access.modelOf(model("https://gpu1.example/v1", "https://gpu2.example/v1"));
    await expect(two).rejects.toThrow("remote models may not use gpu2.example:443");
  });
});
