import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { assertSafeRedirect, publicLookup } from "./redirect.ts";

const internet = "93.184.216.34";
test.each([
  ["https://a.example/f", "https://b.example/f", internet, true],
  ["https://a.example/f", "http://b.example/f", internet, false],
  ["https://a.example/f", "http://a.example/f", "10.0.0.5", false],
  ["https://a.example/f", "https://10.0.0.1/f", internet, false],
  ["http://a.example/f", "http://169.254.169.254/latest/meta-data", internet, false],
  ["http://a.example/f", "http://[::1]:5432/", internet, false],
  ["http://a.example/f", "http://[::ffff:7f00:1]/", internet, false],
  ["http://10.0.0.5/f", "http://10.0.0.6/f", "10.0.0.5", true],
  ["http://a.example/f", "http://127.1/f", internet, false],
  ["http://a.example/f", "http://0x7f000001/f", internet, false],
])("from %s to %s at %s: %s", (from, to, address, isSafe) => {
  const check = () => assertSafeRedirect(new URL(from), new URL(to), address);
  if (isSafe) expect(check).not.toThrow();
  else expect(check).toThrow(new URL(to).origin);
});

test("a redirect to a name that points to this machine is rejected", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const { get } = await import("node:http");
  const error = await new Promise((resolve) =>
    get({ host: "localhost", port, lookup: publicLookup }).on("error", resolve),
  );
  server.close();
  expect(error).toMatchObject({ said: { code: "unsafe_redirect" } });
});
