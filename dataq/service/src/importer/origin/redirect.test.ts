import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { assertSafeRedirect, isPrivateAddress, publicLookup } from "./redirect.ts";

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["10.0.0.1", true],
  ["172.31.255.255", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["169.254.169.254", true],
  ["100.64.0.1", true],
  ["0.0.0.0", true],
  ["::1", true],
  ["::", true],
  ["::ffff:10.0.0.1", true],
  ["64:ff9b::a00:1", true],
  ["fd00::1", true],
  ["fe80::1", true],
  ["not an address", true],
  ["8.8.8.8", false],
  ["2606:4700::1111", false],
])("%s is private: %s", (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate);
});

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
