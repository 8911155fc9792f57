import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { digestOf } from "../../library/digest.ts";
import { requireModelName } from "../../wire/model-name.ts";
import { Network } from "../network.ts";
import { Registry } from "./registry.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

async function serve(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  return (server.address() as AddressInfo).port;
}

const { signal } = new AbortController();

// 127.0.0.1 acts as a public host, 127.0.0.2 as a private one without a listener.
describe("a public registry", () => {
  const moved = new Set<string>();
  afterEach(() => moved.clear());

  function registry(host: string): Registry {
    const lookup: LookupFunction = (hostname, options, callback) => {
      const address = moved.has(hostname) || hostname.startsWith("private") ? "127.0.0.2" : "127.0.0.1";
      if (options.all) callback(null, [{ address, family: 4 }]);
      else callback(null, address, 4);
    };
    const network = new Network({ lookup, isPrivate: (address) => address === "127.0.0.2" });
    open.push(network);
    const options = { network, insecure: true, credentialsOf: async () => null };
    return new Registry(requireModelName(`${host}/ns/m`), options);
  }

  test("cannot reach a private address through a name that resolves differently after the redirect", async () => {
    const files = await serve((_, response) => response.setHeader("connection", "close").end("ok"));
    const port = await serve((_, response) =>
      response.writeHead(307, { location: `http://files.example:${files}/blob` }).end(),
    );
    const asked = registry(`public.example:${port}`);
    const digest = digestOf("ok");
    const first = await asked.blob(digest, null, signal);
    expect([first.status, first.url.hostname]).toEqual([200, "files.example"]);
    await first.body.toArray();
    moved.add("files.example");
    await expect(asked.blob(digest, null, signal)).rejects.toMatchObject({ code: "connection_refused" });
  });

  test("cannot direct an upload to a private address", async () => {
    const port = await serve((_, response) => response.writeHead(202).end());
    const asked = registry(`public.example:${port}`);
    const begun = await asked.send("blobs/uploads/", { method: "POST", signal }, "push");
    begun.body.resume();
    const upload = asked.send(
      new URL(`http://private.example:${port}/`),
      { method: "PATCH", body: () => "weights", signal },
      "push",
    );
    await expect(upload).rejects.toMatchObject({ code: "connection_refused" });
  });
});
