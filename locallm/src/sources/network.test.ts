import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readCertificates } from "./certificates.ts";
import { Network, type NetworkSettings } from "./network.ts";
import { readBody } from "./network-answer.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

function network(settings: NetworkSettings = {}): Network {
  const made = new Network({ connectTimeoutMs: 5000, ...settings });
  open.push(made);
  return made;
}

async function listen(server: Server, address: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  open.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return (server.address() as AddressInfo).port;
}

const serve = (answer: RequestListener, address = "127.0.0.1") => listen(createServer(answer), address);
const signal = new AbortController().signal;
const redirect =
  (to: string): RequestListener =>
  (_, response) =>
    response.writeHead(307, { location: to }).end();

describe("redirects", () => {
  test("are followed up to ten times", async () => {
    let hops = 0;
    const port = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      hops++;
      if (left === 0) response.end("there");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const there = await network().request(new URL(`http://127.0.0.1:${port}/10`), { signal });
    expect((await readBody(there, 100)).toString()).toBe("there");
    hops = 0;
    const far = network().request(new URL(`http://127.0.0.1:${port}/11`), { signal });
    await expect(far).rejects.toMatchObject({ code: "connection_refused" });
    expect(hops).toBe(11);
  });

  test("drop credentials only when the host changes", async () => {
    const seen: IncomingMessage["headers"][] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const port = await serve((request, response) => {
      seen.push(request.headers);
      const to = request.url === "/a" ? "/b" : `http://localhost:${other}/c`;
      response.writeHead(307, { location: to }).end();
    });
    const headers = { authorization: "Basic c2VjcmV0", cookie: "a=b", range: "bytes=0-1" };
    await network().request(new URL(`http://127.0.0.1:${port}/a`), { signal, headers });
    expect(seen.map(({ authorization, cookie, range }) => [authorization, cookie, range])).toEqual([
      ["Basic c2VjcmV0", "a=b", "bytes=0-1"],
      ["Basic c2VjcmV0", "a=b", "bytes=0-1"],
      [undefined, undefined, "bytes=0-1"],
    ]);
  });

  // On Linux all of 127.0.0.0/8 is loopback: one address acts as the public host, another as the private one.
  describe.skipIf(process.platform !== "linux")("from a public host", () => {
    const isPrivate = (address: string) => address === "127.0.0.2";
    const lookup: LookupFunction = (hostname, options, callback) => {
      const address = hostname.startsWith("private") ? "127.0.0.2" : "127.0.0.1";
      if (options.all) callback(null, [{ address, family: 4 }]);
      else callback(null, address, 4);
    };
    test.each(["private.example", "PRIVATE.example.", "127.0.0.2", "2130706434", "0x7f000002"])(
      "to the private address %s are rejected before a connection is made",
      async (host) => {
        let asked = 0;
        const inside = await serve((_, response) => response.end(String(++asked)), "127.0.0.2");
        const port = await serve(redirect(`http://${host}:${inside}/metadata`));
        const request = network({ lookup, isPrivate }).request(new URL(`http://public.example:${port}/`), {
          signal,
          insecure: true,
        });
        await expect(request).rejects.toMatchObject({ code: "connection_refused" });
        expect(asked).toBe(0);
      },
    );

    test("are also rejected on reused connections, in both directions", async () => {
      let asked = 0;
      const inside = await serve((_, response) => response.end(String(++asked)), "127.0.0.2");
      const port = await serve((request, response) => {
        if (request.url === "/first") response.end("ok");
        else response.writeHead(307, { location: `http://private.example:${inside}/` }).end();
      });
      const made = network({ lookup, isPrivate });
      const ask = (path: string) =>
        made.request(new URL(`http://public.example:${port}${path}`), { signal, insecure: true });
      await readBody(await ask("/first"), 100);
      // A connection that the user requested to the private address must not be reused for a redirect.
      const own = new URL(`http://private.example:${inside}/`);
      await readBody(await made.request(own, { signal, insecure: true }), 100);
      await expect(ask("/second")).rejects.toMatchObject({ code: "connection_refused" });
      expect(asked).toBe(1);
    });

    test("to a public host are followed; a private registry may redirect anywhere", async () => {
      const port = await serve((_, response) => response.end("ok"));
      const inside = await serve(redirect(`http://public.example:${port}/`), "127.0.0.2");
      const first = await serve(redirect(`http://other.example:${port}/`));
      for (const url of [`http://private.example:${inside}/`, `http://public.example:${first}/`]) {
        const answer = await network({ lookup, isPrivate }).request(new URL(url), { signal, insecure: true });
        expect(answer.status).toBe(200);
        answer.body.resume();
      }
    });
  });

  test("insecure requests reach only loopback and private hosts in LOCALLM_REGISTRIES", async () => {
    const port = await serve((_, response) => response.end("ok"));
    // Connects to the first address; all of them are checked.
    const lookup: LookupFunction = (_hostname, _options, callback) =>
      callback(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "10.1.2.3", family: 4 },
      ]);
    const host = `models.example:${port}`;
    const ask = (namedHosts: string[], url = `http://${host}/`) =>
      network({ lookup, namedHosts }).request(new URL(url), { signal, insecure: true });
    for (const named of [[], ["models.example"], [`other.example:${port}`]])
      await expect(ask(named)).rejects.toMatchObject({
        code: "connection_refused",
        message: `locallm refuses to connect to ${host}: insecure requests to private addresses need the host in LOCALLM_REGISTRIES`,
      });
    expect(await readBody(await ask([host], `http://MODELS.example:${port}/`), 10)).toEqual(
      Buffer.from("ok"),
    );
    const local = await network().request(new URL(`http://127.0.0.1:${port}/`), { signal, insecure: true });
    expect(await readBody(local, 10)).toEqual(Buffer.from("ok"));
  });

  test("to other schemes are rejected", async () => {
    for (const to of ["file:///etc/passwd", "ftp://127.0.0.1/", "data:,x", "http://"]) {
      const port = await serve(redirect(to));
      const request = network().request(new URL(`http://127.0.0.1:${port}/`), { signal });
      await expect(request).rejects.toMatchObject({ code: "connection_refused" });
    }
  });

  const openssl = (() => {
    try {
      execFileSync("openssl", ["version"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  })();
  describe.skipIf(!openssl)("from https (needs openssl)", () => {
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "tls-"));
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,DNS:files.example"];
      const files = ["-keyout", join(folder, "key"), "-out", join(folder, "cert")];
      execFileSync(
        "openssl",
        [
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:prime256v1",
          "-nodes",
          "-days",
          "2",
          ...files,
          ...subject,
        ],
        { stdio: "ignore" },
      );
    });
    afterAll(() => rm(folder, { recursive: true }));

    async function secure(answer: RequestListener): Promise<number> {
      const [key, cert] = await Promise.all(["key", "cert"].map((name) => readFile(join(folder, name))));
      return await listen(createSecureServer({ key, cert }, answer) as unknown as Server, "127.0.0.1");
    }

    test("to http are rejected unless the request is insecure", async () => {
      const plain = await serve((_, response) => response.end("ok"));
      const port = await secure(redirect(`http://localhost:${plain}/`));
      const options = { signal, certificateFile: join(folder, "cert") };
      const url = new URL(`https://localhost:${port}/`);
      await expect(network().request(url, options)).rejects.toMatchObject({ code: "connection_refused" });
      const answer = await network().request(url, { ...options, insecure: true });
      expect(answer.status).toBe(200);
      answer.body.resume();
    });

    test("to http on the same host drop credentials in an insecure request", async () => {
      const port = await secure(redirect("http://files.example/plain"));
      const seen: unknown[] = [];
      const server = createServer((request, response) => {
        seen.push(request.url, request.headers.authorization);
        response.end();
      });
      server.on("connect", (_, client) => {
        const inside = connect(port, "127.0.0.1", () => {
          client.write("HTTP/1.1 200 OK\r\n\r\n");
          inside.pipe(client).pipe(inside);
        });
        inside.on("error", () => client.destroy());
        client.on("error", () => inside.destroy());
      });
      const address = `http://127.0.0.1:${await listen(server, "127.0.0.1")}`;
      const certificates = await readCertificates(join(folder, "cert"));
      const made = network({ proxy: { http: address, https: address, except: null }, certificates });
      const headers = { authorization: "Basic c2VjcmV0" };
      const answer = await made.request(new URL("https://files.example/"), {
        signal,
        headers,
        insecure: true,
      });
      answer.body.resume();
      expect(seen).toEqual(["http://files.example/plain", undefined]);
    });

    test("rejects an untrusted certificate, and accepts it if the settings list it", async () => {
      const port = await secure((_, response) => response.end("ok"));
      const url = new URL(`https://localhost:${port}/`);
      await expect(network().request(url, { signal })).rejects.toMatchObject({ code: "source_unreachable" });
      const certificates = await readCertificates(join(folder, "cert"));
      const answer = await network({ certificates }).request(url, { signal });
      expect((await readBody(answer, 10)).toString()).toBe("ok");
      await expect(readCertificates(join(folder, "key"))).rejects.toThrow();
    });

    test("checks the server's certificate through a proxy tunnel", async () => {
      const port = await secure((_, response) => response.end("ok"));
      const tunnels: string[] = [];
      const server = createServer();
      server.on("connect", (request, client) => {
        tunnels.push(request.url ?? "");
        const inside = connect(port, "127.0.0.1", () => {
          client.write("HTTP/1.1 200 OK\r\n\r\n");
          inside.pipe(client).pipe(inside);
        });
        inside.on("error", () => client.destroy());
        client.on("error", () => inside.destroy());
      });
      const proxyPort = await listen(server, "127.0.0.1");
      const proxy = { http: null, https: `http://user:secret@127.0.0.1:${proxyPort}`, except: null };
      const certificates = await readCertificates(join(folder, "cert"));
      const made = network({ proxy, certificates });
      // The certificate has another name: the tunnel opens, but the server is not trusted.
      const error = await made.request(new URL("https://models.example/x"), { signal }).then(
        () => expect.unreachable(),
        (thrown: unknown) => thrown as Error,
      );
      expect(error.message).toMatch(
        /cannot reach models\.example: .+ \(ERR_TLS_CERT_ALTNAME_INVALID\) \(by the proxy 127\.0\.0\.1:\d+\)$/,
      );
      expect(tunnels).toEqual(["models.example:443"]);
    });
  });
});

describe("plain http", () => {
  test("is allowed only to loopback", async () => {
    const request = network().request(new URL("http://models.example/"), { signal });
    await expect(request).rejects.toMatchObject({ code: "insecure_protocol" });
  });
});

test("rejects a too large answer while reading it", async () => {
  const port = await serve((_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", more);
    more();
  });
  const answer = await network().request(new URL(`http://127.0.0.1:${port}/`), { signal });
  await expect(readBody(answer, 1_000_000)).rejects.toMatchObject({ code: "source_failed" });
});

test("gives up on an answer that stalls or breaks off", async () => {
  const stalls = await serve((_, response) => response.write("a"));
  const breaks = await serve((_, response) => response.write("a", () => response.destroy()));
  for (const port of [stalls, breaks]) {
    const made = network({ connectTimeoutMs: 100 });
    const answer = await made.request(new URL(`http://127.0.0.1:${port}/`), { signal });
    await expect(readBody(answer, 100)).rejects.toMatchObject({ code: "source_unreachable" });
  }
});

test("errors contain the host, never the whole URL", async () => {
  const error: Error = await network()
    .request(new URL("http://127.0.0.1:1/secret?token=abc"), { signal })
    .then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as Error,
    );
  expect(error.message).toBe("cannot reach 127.0.0.1:1: the connection was refused (ECONNREFUSED)");
});

describe("a proxy", () => {
  const proxied = async (except: string | null, host: string) => {
    const seen: string[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url ?? "");
      response.end("by proxy");
    });
    const proxy = { http: `http://127.0.0.1:${port}`, https: null, except };
    const lookup: LookupFunction = (_, __, callback) =>
      callback(Object.assign(new Error("none"), { code: "ENOTFOUND" }), "", 4);
    const made = network({ proxy, lookup });
    const answer = await made
      .request(new URL(`http://${host}/x`), { signal, insecure: true })
      .catch(() => null);
    answer?.body.resume();
    return seen;
  };

  test("is used for other hosts, but not for loopback or excluded hosts", async () => {
    expect(await proxied(null, "models.example")).toEqual(["http://models.example/x"]);
    expect(await proxied("example", "models.example")).toEqual([]);
    expect(await proxied("other.test, .models.example", "models.example")).toEqual([]);
    expect(await proxied("*", "models.example")).toEqual([]);
    expect(await proxied("ample", "models.example")).toEqual(["http://models.example/x"]);
    expect(await proxied(null, "localhost:1")).toEqual([]);
  });
});
